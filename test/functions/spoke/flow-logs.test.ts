import { describe, expect, test } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { spoke } from "./support/fixtures.ts";
import { failing, running, World } from "./support/world.ts";

const logged = (flowLogs: string, change: object = {}) => spoke({ network: { flowLogs }, ...change });
const own = (world: World) => [...world.live.keys()].filter((key) => key.includes("flow-log"));
const all = ["flow-log-all", "flow-log-group", "policy-flow-logs", "role-flow-logs"];

describe("the flow log of a spoke's VPC", () => {
  test("is not there unless the Spoke asks for it", () => expect(own(running(spoke()))).toEqual([]));

  test("is of the VPC and the traffic, into a group that is kept as long as the other logs", () => {
    const world = running(logged("ALL", { logRetentionDays: 30 }));
    expect(own(world).sort()).toEqual(all);
    expect(world.forProvider("flow-log-all")).toMatchObject({
      vpcId: world.spoke.status?.network?.vpcId,
      trafficType: "ALL",
      iamRoleArn: "arn:aws:iam::000000000000:role/fleet-spoke-blue-flow-logs",
      logDestinationType: "cloud-watch-logs",
      logDestination: "arn:aws:logs:us-east-1:000000000000:log-group:/aws/eks/fleet-spoke-blue/cluster-flow-logs",
    });
    expect(world.forProvider("flow-log-group")["retentionInDays"]).toBe(30);
  });

  test("is encrypted with the Spoke's key, as the control plane's logs, until the Spoke has no key", () => {
    const logKey = "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const groups = ["flow-log-group", "logs"];
    const world = running(logged("ALL", { logKey }));
    for (const group of groups) expect(world.forProvider(group)["kmsKeyId"], group).toBe(logKey);
    world.change({ logKey: undefined }).settle();
    for (const group of groups) expect(world.forProvider(group), group).not.toHaveProperty("kmsKeyId");
  });

  test("is written by a role that only VPC Flow Logs assumes, for this account, and that writes to that group alone", () => {
    const world = running(logged("ALL"));
    const trust = JSON.parse(String(world.forProvider("role-flow-logs")["assumeRolePolicy"]));
    expect(trust.Statement).toEqual([
      {
        Effect: "Allow",
        Principal: { Service: "vpc-flow-logs.amazonaws.com" },
        Action: ["sts:AssumeRole"],
        Condition: {
          StringEquals: { "aws:SourceAccount": "000000000000" },
          ArnLike: { "aws:SourceArn": "arn:aws:ec2:us-east-1:000000000000:vpc-flow-log/*" },
        },
      },
    ]);
    const policy = JSON.parse(String(world.forProvider("policy-flow-logs")["policy"]));
    expect(policy.Statement.map(({ Resource }: { Resource: string[] }) => Resource)).toEqual([
      ["arn:aws:logs:us-east-1:000000000000:log-group:/aws/eks/fleet-spoke-blue/cluster-flow-logs*"],
    ]);
    expect(world.forProvider("role-flow-logs")["permissionsBoundary"]).toBe(
      "arn:aws:iam::000000000000:policy/fleet-boundary",
    );
  });

  test("waits for what writes it and for its group", () => {
    const world = new World(logged("ALL"));
    world.report("policy-flow-logs", failing("no right to put the policy")).settle();
    expect(world.live.has("flow-log-all")).toBe(false);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test("is another one for other traffic, because AWS can't change it, and goes when nobody asks for it", () => {
    const world = running(logged("ALL"));
    const vpc = world.forProvider("vpc");
    world.change({ network: { ...world.spoke.spec.network, flowLogs: "REJECT" } }).settle();
    expect(own(world).sort()).toEqual(["flow-log-group", "flow-log-reject", "policy-flow-logs", "role-flow-logs"]);
    expect(world.removed).toEqual(["flow-log-all"]);
    const { flowLogs: _, ...network } = world.spoke.spec.network;
    world.change({ network });
    expect(world.settle().ready).toBe(true);
    expect(own(world)).toEqual([]);
    expect(world.forProvider("vpc")).toEqual(vpc);
  });

  test("outlives the cluster, and goes before its group and the VPC", () => {
    const world = running(logged("ALL"));
    world.delete().settle(80);
    const order = world.removed.filter((key) => ["cluster", "flow-log-all", "flow-log-group", "vpc"].includes(key));
    expect(order.indexOf("cluster")).toBe(0);
    expect(order.indexOf("flow-log-all")).toBeLessThan(order.indexOf("flow-log-group"));
    expect(order.indexOf("flow-log-all")).toBeLessThan(order.indexOf("vpc"));
  });

  test("is let go with everything else", () => {
    const world = running(logged("ALL"));
    world.change({ deletionPolicy: "Orphan" }).settle();
    for (const key of all) expect(at(world.object(key).spec, "managementPolicies"), key).not.toContain("Delete");
  });
});
