import { readConfig } from "../../infra/config.ts";
import { type ConfigText, project, stackConfig } from "./program.ts";

/** What the program has against the dev stack with these values of the configuration, all of them secrets, by their whole names. */
export const problemsWith = (changes: ConfigText) =>
  readConfig({
    project,
    values: { ...stackConfig("dev"), ...changes },
    isSecret: () => true,
    region: "us-east-1",
  }).problems;
