import { expect, test } from "vitest";
import { spoke } from "./support/fixtures.ts";
import { running } from "./support/world.ts";

const attached = (world: ReturnType<typeof running>) =>
  [...world.live.keys()].filter((key) => key.startsWith("attachment-node-") && key.includes("ssm"));

test("the nodes' role gets the policy of Session Manager when the Spoke sets it, and loses it with the field", () => {
  expect(attached(running(spoke()))).toEqual([]);
  const world = running(spoke({ sessionManager: true }));
  expect(attached(world)).toEqual(["attachment-node-amazonssmmanagedinstancecore"]);
  expect(world.forProvider("attachment-node-amazonssmmanagedinstancecore")).toMatchObject({
    role: "fleet-spoke-blue-node",
    policyArn: "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
  });
  world.spoke = spoke({ sessionManager: false });
  expect(world.settle().ready).toBe(true);
  expect(attached(world)).toEqual([]);
});
