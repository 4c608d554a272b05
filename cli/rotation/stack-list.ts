import { existsSync, readFileSync } from "node:fs";
import { parseDocument } from "yaml";
import type { Problem } from "../../lib/problems.ts";
import { type Project, stackPath } from "../fleet/stack-config.ts";
import { formerKeys, type KeyName, type ListedKey, listedKeys } from "./stack-file.ts";

/** A stack's file and its lists of sealing keys. */
export interface StackList {
  readonly path: string;
  readonly text: string;
  /** `<project>:sealingKeys`. */
  readonly key: string;
  /** Where the file has no list, Pulumi.yaml's default, which counts then. */
  readonly keys: readonly ListedKey[];
  /** `<project>:formerSealingKeys`. */
  readonly formerKey: string;
  /** Keys that are in Secrets Manager and in no state. */
  readonly former: readonly KeyName[];
}

/** @throws UsageError when a list has another form */
export function readStackList(project: Project, stack: string): StackList {
  const path = stackPath(project, stack);
  const [text, key] = [readFileSync(path, "utf8"), `${project.name}:sealingKeys`];
  const isListed = parseDocument(text).hasIn(["config", key]);
  const keys = isListed ? listedKeys(text, key, stack) : (project.defaults[key] as readonly ListedKey[]);
  const formerKey = `${project.name}:formerSealingKeys`;
  return { path, text, key, keys, formerKey, former: formerKeys(text, formerKey, stack) };
}

/** The problem of a stack without a file. */
export function stackFileProblems(project: Project, stack: string): Problem[] {
  const path = stackPath(project, stack);
  if (existsSync(path)) return [];
  return [
    {
      key: "--stack",
      what: "has no file in this project",
      got: path,
      allowed: "a stack of the hub",
      remedy: "correct the name: pulumi stack ls",
    },
  ];
}
