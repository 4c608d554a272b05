import { expect } from "vitest";
import type { Properties } from "../../aws/index.ts";
import type { HandlerCase } from "./aws-handler-cases.ts";
import type { Existing, HandlerRunner } from "./handler-runner.ts";

/** What stays on purpose: the default group goes with its VPC, the policy of a key with the key, the current version of a secret with its secret, versioning with its bucket. */
const keptByAws = [
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
  "aws:kms/keyPolicy:KeyPolicy",
  "aws:s3/bucketVersioning:BucketVersioning",
  "aws:secretsmanager/secretVersion:SecretVersion",
];

/** Takes the resource of a case through its life, and expects it to be created, read without drift, changed, deleted, and then gone. */
export async function proveCase(runner: HandlerRunner, { token, inputs, change }: HandlerCase): Promise<void> {
  const made: [string, Existing][] = [];
  const make = async (of: string, given: Properties) => {
    const existing = await runner.create(of, given);
    made.push([of, existing]);
    return existing.id;
  };
  try {
    const created = await runner.create(token, await inputs(make, runner.aws));
    made.push([token, created]);
    expect(runner.drift(token, created)).toEqual({});
    expect(await runner.read(token, created.id, created.state)).toEqual(created.state);

    let existing = created;
    if (change) {
      const news = typeof change === "function" ? change(created.inputs) : { ...created.inputs, ...change };
      existing = await runner.update(token, created, news);
      expect(runner.drift(token, existing)).toEqual({});
    }

    await runner.delete(token, existing);
    await runner.delete(token, existing);
    if (!keptByAws.includes(token)) expect(await runner.read(token, existing.id, existing.state)).toBeNull();
  } finally {
    for (const [of, existing] of made.reverse()) await runner.delete(of, existing);
  }
}
