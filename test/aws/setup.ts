import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { TestProject } from "vitest/node";
import { describeProblems } from "../../lib/problems.ts";
import { type Environment, readEnvironment } from "./environment.ts";
import { confirmed, type Identity } from "./identity.ts";

declare module "vitest" {
  export interface ProvidedContext {
    environment: Environment;
    identity: Identity;
  }
}

/** Refuses to begin unless the environment says everything, and names the account that the credentials are of. */
export default async function setup(project: TestProject): Promise<void> {
  const read = readEnvironment(process.env);
  if (!("environment" in read)) throw new Error(describeProblems("the environment of npm run test:aws", read.problems));
  const { environment } = read;
  const caller = await new STSClient({ region: environment.region }).send(new GetCallerIdentityCommand({}));
  const identity = confirmed(caller, environment);
  console.log(
    `Account ${identity.accountId}, ${environment.region}, fleet ${environment.fleet}, stack ${environment.stack}; as ${caller.Arn ?? ""}`,
  );
  project.provide("environment", environment);
  project.provide("identity", identity);
}
