import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readStack } from "../../cli/doctor/stack.ts";
import { root } from "../support/process.ts";
import { stackProblems } from "./stack.ts";

const example = join(root, "test", "aws", "Pulumi.example.yaml");
const asked = { account: "111111111111", region: "eu-central-1", fleet: "fleet-proof", environment: "dev" };
const read = async (configFile: string, stack = "proof") => {
  const { stack: found, findings } = await readStack({ root, stack, configFile }, async () => undefined);
  if (found === undefined) throw new Error(JSON.stringify(findings));
  return { found, findings };
};

describe("the stack of the proof on AWS", () => {
  test("as the example has it lacks nothing but one's own networks, and can be removed without a trace", async () => {
    const { found, findings } = await read(example);
    expect(findings.map(({ status, name }) => [status, name])).toEqual([["wrong", "endpointPublicAccessCidrs[0]"]]);
    expect(stackProblems(found, asked)).toEqual([]);
  });

  test("that is another one, or would leave something, is refused with everything that is wrong", async () => {
    const { found } = await read(join(root, "stacks", "Pulumi.prod.yaml"), "prod");
    expect(
      stackProblems(found, { ...asked, account: "333333333333", region: "us-east-1" }).map(({ key }) => key),
    ).toEqual([
      ...["fleet", "aws:region", "aws:allowedAccountIds", "protect", "deletionProtection", "secretRecoveryWindowDays"],
      "sealingKeys",
    ]);
  });

  test("that authenticates to Git in another way is refused", async () => {
    const { found } = await read(example);
    const settings = { ...found.settings, gitAuthentication: "token" as const };
    expect(stackProblems({ ...found, settings }, asked)).toMatchObject([
      { key: "gitAuthentication", got: "token", allowed: "deploy-key" },
    ]);
  });
});
