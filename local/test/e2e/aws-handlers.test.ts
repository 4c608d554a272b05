/** Every AWS handler against the instance's AWS API, with IAM enforced. EKS handlers are proved by the program itself and by aws-engine.test.ts. */
import { describe, expect, test } from "vitest";
import { handlers, type Properties } from "../../aws/index.ts";
import { cases } from "../support/aws-handler-cases.ts";
import { type Existing, HandlerRunner } from "../support/handler-runner.ts";
import { account } from "../support/instance.ts";

const runner = new HandlerRunner(account, { fleet: "handler-test" });

/** What stays on purpose: the default group goes with its VPC, the current version of a secret with its secret. */
const keptByAws = [
  "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
  "aws:secretsmanager/secretVersion:SecretVersion",
];

test("there is a case for every handler but those of EKS", () => {
  const missing = [...handlers.keys()].filter(
    (token) => !token.startsWith("aws:eks/") && !cases.some((c) => c.token === token),
  );
  expect(missing).toEqual([]);
});

describe.each(cases)("$token", ({ token, inputs: inputsOf, change }) => {
  test("is created, read without drift, changed, deleted, and then gone", async () => {
    const made: [string, Existing][] = [];
    const make = async (of: string, inputs: Properties) => {
      const existing = await runner.create(of, inputs);
      made.push([of, existing]);
      return existing.id;
    };
    try {
      const created = await runner.create(token, await inputsOf(make, account));
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
  });
});
