import { describe, expect, it } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { databaseDigest, databasePrefix } from "../../../lib/iam/databases.ts";
import type { Statement } from "../../../lib/iam/policy.ts";
import { spoke } from "./support/fixtures.ts";
import { running, settled, World } from "./support/world.ts";

const addons = ["rds_instances"];
const prefix = databasePrefix("fleet-spoke-", "fleet-spoke-blue");

/** What the role of the spoke's Crossplane may do with RDS, by the names of the statements. */
const onDatabases = (world: World): Record<string, readonly string[]> =>
  Object.fromEntries(
    (JSON.parse(String(at(world.forProvider("policy-crossplane"), "policy"))).Statement as Statement[])
      .filter(({ Action }) => Action.some((action) => action.startsWith("rds:")))
      .map(({ Sid = "", Action }) => [Sid, Action]),
  );
const tag = (world: World, role: string) => at(world.forProvider(`role-${role}`), "tags", "rds-digest");
const told = (world: World) => {
  const data = fromBase64(world.live.get("cluster-secret")?.object.data as Record<string, string>);
  return ["database_prefix", "database_security_group_id", "database_subnet_ids"].map((key) => data[key]);
};

describe("a Spoke whose applications order databases", () => {
  it("gives its own Crossplane the rights, and a tag by which the boundary knows its names", () => {
    const world = new World(spoke({ addons }));
    expect(world.settle().ready).toBe(true);
    expect(onDatabases(world)["Databases"]).toEqual(["rds:CreateDBInstance", "rds:ModifyDBInstance"]);
    expect(tag(world, "crossplane")).toBe(databaseDigest("fleet-spoke-blue"));
    for (const other of ["node", "cluster", "external-secrets", "aws-ebs-csi-driver"])
      expect(tag(world, other), other).toBeUndefined();
  });

  it("tells Git how its databases begin, in which subnets they are, and which security group they join", () => {
    const world = settled(spoke({ addons }));
    const [beginning, group, subnets] = told(world);
    expect(beginning).toBe(prefix);
    expect(group).toBe(
      at(world.live.get("cluster")?.object.status, "atProvider", "vpcConfig", "clusterSecurityGroupId"),
    );
    const ids = ["subnet-private-0", "subnet-private-1"].map((key) =>
      at(world.live.get(key)?.object.status, "atProvider", "id"),
    );
    expect(JSON.parse(subnets ?? "")).toEqual(ids);
  });

  it("without the add-on has nothing of it", () => {
    const world = new World(spoke({}));
    expect(world.settle().ready).toBe(true);
    expect(onDatabases(world)).toEqual({});
    expect(tag(world, "crossplane")).toBeUndefined();
    expect(told(world)).toEqual(["", "", "[]"]);
  });

  it("leaves its Crossplane the right to remove the group of the subnets, and no other, when the add-on is turned off", () => {
    const world = settled(spoke({ addons }));
    const before = told(world);
    world.change({ addons: [] });
    expect(world.settle().ready).toBe(true);
    expect(onDatabases(world)).toEqual({
      SubnetsOfDatabases: ["rds:DeleteDBSubnetGroup", "rds:DescribeDBSubnetGroups", "rds:ListTagsForResource"],
    });
    expect(tag(world, "crossplane")).toBe(databaseDigest("fleet-spoke-blue"));
    // Flux still has objects that are called so.
    expect(told(world)).toEqual(before);
    // It stays so.
    world.settle();
    expect(Object.keys(onDatabases(world))).toEqual(["SubnetsOfDatabases"]);
    world.change({ addons }).settle();
    expect(onDatabases(world)["Databases"]).toBeDefined();
  });
});

describe("a removal that databases keep from ending", () => {
  it.each([
    [addons, true],
    [[], false],
  ])("says so once it is stuck, with add-ons %j: %s", (enabled, expected) => {
    const world = running(spoke({ addons: enabled }));
    world.stuck.add("bootstrap");
    world.delete();
    for (let step = 0; step < 20; step += 1) world.step();
    const message = () => world.condition("Deleting")?.message ?? "";
    expect(message()).not.toContain("Databases that applications left");
    world.now += 15 * 60_000 + 1;
    world.step();
    expect(message().includes("Databases that applications left in AWS keep the group of its subnets")).toBe(expected);
    expect(message()).toContain("If its API server is gone for good, abandon what runs there");
  });
});

describe("names of databases", () => {
  it("of one cluster are no beginnings of another's, whatever the clusters are called", () => {
    const clusters = ["fleet-spoke-dev", "fleet-spoke-dev-2", "fleet-spoke-d", "fleet-spoke-dev-2-x"];
    const beginnings = clusters.map((cluster) => databasePrefix("fleet-spoke-", cluster));
    for (const [index, one] of beginnings.entries())
      for (const other of beginnings.toSpliced(index, 1)) expect(other.startsWith(one)).toBe(false);
    expect(new Set(beginnings.map((each) => each.length))).toEqual(new Set([19]));
    // Clusters of one name in two fleets, and RDS's form of a name.
    expect(databasePrefix("a-spoke-", "a-spoke-dev")).not.toBe(databasePrefix("b-spoke-", "a-spoke-dev"));
    expect(prefix).toMatch(/^[a-z][a-z0-9]+$/);
  });
});
