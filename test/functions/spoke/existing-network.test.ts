import { describe, expect, test } from "vitest";
import { readClaim } from "../../../functions/spoke/claims.ts";
import { at } from "../../../functions/spoke/kube.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { example, spoke } from "./support/fixtures.ts";
import { failing, running, World } from "./support/world.ts";

const network = {
  vpcId: "vpc-0a1b2c3d4e5f60718",
  privateSubnetIds: ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
};
const all = [network.vpcId, ...network.privateSubnetIds];
const inShared = (change: object = {}, name = "blue") =>
  spoke({ network: { existing: { ...network, ...change } } }, name);

/** What AWS says of `key` instead. */
const says =
  (change: Readonly<Record<string, unknown>>) =>
  (status: Record<string, unknown>): Record<string, unknown> => ({
    ...status,
    atProvider: { ...(status["atProvider"] as object), ...change },
  });

/** A Spoke to which AWS says something else of its network from the beginning. */
function told(key: string, change: Readonly<Record<string, unknown>>, asked = inShared()): World {
  const world = new World(asked);
  world.report(key, says(change)).settle();
  return world;
}

const looked = (world: World) =>
  [...world.live].filter(([, { object }]) => String(at(object.spec, "managementPolicies")) === "Observe");
const kindsOf = (world: World) => new Set([...world.live.values()].map(({ object }) => object.kind));
const problem = (world: World) => world.condition("SpecAccepted");

describe("a Spoke in a VPC that is there", () => {
  test("looks at the VPC and the subnets by their IDs, and may do nothing else with them", () => {
    const world = running(inShared({ publicSubnetIds: ["subnet-2a1b2c3d4e5f60718"] }));
    expect(looked(world).map(([key]) => key)).toEqual([
      "vpc",
      "subnet-public-0",
      "subnet-private-0",
      "subnet-private-1",
    ]);
    for (const [key, { object }] of looked(world)) {
      expect(at(object.spec, "managementPolicies"), key).toEqual(["Observe"]);
      expect(at(object.spec, "forProvider", "tags"), key).toBeUndefined();
    }
    expect(world.object("subnet-private-1").metadata.annotations?.["crossplane.io/external-name"]).toBe(
      network.privateSubnetIds[1],
    );
  });

  test("has every group of nodes in the private subnets", () => {
    const world = running(
      spoke({
        network: { existing: network },
        nodeGroups: [{ name: "nodes" }, { name: "gpu", instanceTypes: ["g6.xlarge"] }],
      }),
    );
    const groups = [...world.live.values()].filter(({ object }) => object.kind === "NodeGroup");
    expect(groups.map(({ object }) => at(object.spec, "forProvider", "subnetIds"))).toEqual([
      network.privateSubnetIds,
      network.privateSubnetIds,
    ]);
    expect(world.condition("NodesReady")).toMatchObject({ status: "True" });
  });

  test("makes no part of a network", () => {
    const kinds = kindsOf(running(inShared()));
    for (const kind of [
      ...["EIP", "InternetGateway", "NATGateway", "Route", "RouteTable", "RouteTableAssociation", "VPCEndpoint"],
    ])
      expect(kinds, kind).not.toContain(kind);
  });

  test("puts nodes into the private subnets, and the control plane into all", () => {
    const world = running(example("shared-network"));
    const { publicSubnetIds = [], privateSubnetIds = [] } = world.spoke.spec.network.existing ?? {};
    const [group = ""] = [...world.live.keys()].filter((key) => key.startsWith("node-group"));
    expect(world.forProvider(group)["subnetIds"]).toEqual(privateSubnetIds);
    expect(at(world.forProvider("cluster"), "vpcConfig", "subnetIds")).toEqual([
      ...publicSubnetIds,
      ...privateSubnetIds,
    ]);
  });

  test("tells the chain, the status and the other Spokes of the VPC's network, and lets others share it", () => {
    const world = running(inShared());
    expect(world.spoke.status?.network).toEqual({ vpcId: network.vpcId, cidr: "10.0.0.0/16" });
    expect(fromBase64(world.object("cluster-secret").data ?? {})).toMatchObject({
      aws_vpc_id: network.vpcId,
      aws_vpc_cidr: "10.0.0.0/16",
    });
    const claim = readClaim(world.object("network-10-0-0-0-16"));
    expect(claim).toMatchObject({ owner: "blue", fromPool: false });
    expect(running(inShared({}, "green"), { others: claim ? [claim] : [] }).answer?.ready).toBe(true);
  });

  test("tells where load balancers are that face the internet, as AWS describes the public subnets", () => {
    const existing = { ...network, publicSubnetIds: ["subnet-2a1b2c3d4e5f60718"] };
    const asked = spoke({ network: { existing }, addons: ["aws_load_balancer_controller"] });
    const world = told("subnet-public-0", { cidrBlock: "10.0.96.0/20" }, asked);
    expect(fromBase64(world.object("cluster-secret").data ?? {})).toMatchObject({
      load_balancer_cidrs: "10.0.96.0/20",
      load_balancer_peers: '[{"ipBlock":{"cidr":"10.0.96.0/20"}}]',
    });
  });

  test("makes nothing before AWS has described all of it", () => {
    const world = new World(inShared());
    world.report("subnet-private-1", (status) => ({ ...status, atProvider: {}, conditions: [] })).settle();
    expect(kindsOf(world)).toEqual(new Set(["Usage", "VPC", "Subnet", "ConfigMap"]));
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test("says what AWS does not have, and goes on once it is there", () => {
    const world = new World(inShared());
    world.report("subnet-private-0", failing("observe failed: external resource does not exist")).settle();
    expect(world.condition("NetworkReady")).toMatchObject({ status: "False", reason: "NetworkNotFound" });
    expect(world.condition("NetworkReady")?.message).toContain("spec.network.existing names what AWS does not have");
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test.each([
    ["no tag", {}],
    ["the tag of another fleet", { "fleet.internal/shared-network": "other" }],
  ])("makes nothing in one with %s, and says the command that its owner needs", (_name, tags) => {
    const world = told("vpc", { tags });
    expect(problem(world)).toMatchObject({ status: "False", reason: "NetworkNotShared" });
    expect(problem(world)?.message).toContain(
      `aws ec2 create-tags --region us-east-1 --resources ${network.vpcId} --tags Key=fleet.internal/shared-network,Value=fleet`,
    );
    expect(kindsOf(world)).toEqual(new Set(["Usage", "VPC", "Subnet", "ConfigMap"]));
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test("has Crossplane look again at a network that is refused, because only its owner knows when it is tagged", () => {
    const looks = (world: World) =>
      ["vpc", "subnet-private-0"].map((key) => world.object(key).metadata.annotations?.["fleet.internal/look-again"]);
    const world = told("subnet-private-0", { tags: {} });
    const first = looks(world);
    expect(first.every((look) => look !== undefined)).toBe(true);
    world.now += 31_000;
    world.step();
    expect(looks(world)).not.toEqual(first);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(looks(world)).toEqual([undefined, undefined]);
  });

  test("makes nothing in a network that a fleet made, whatever other tags it has", () => {
    const tags = { "fleet.internal/shared-network": "fleet", "fleet.internal/fleet": "fleet" };
    const ofSpoke = problem(told("vpc", { tags: { ...tags, "fleet.internal/cluster": "green" } }));
    expect(ofSpoke).toMatchObject({ reason: "NetworkNotShared" });
    expect(ofSpoke?.message).toContain("of Spoke green");
    expect(problem(told("vpc", { tags: { ...tags, "fleet.internal/cluster": "hub" } }))?.message).toContain(
      "of the hub",
    );
  });

  test.each([
    ["subnet-private-1", { availabilityZone: "us-east-1a" }, "all in us-east-1a: EKS needs subnets in two"],
    ["subnet-private-1", { vpcId: "vpc-other" }, "subnet-1a1b2c3d4e5f60718 are not subnets of vpc-0a1b2c3d4e5f60718"],
    ["vpc", { enableDnsHostnames: false }, "has enableDnsHostnames off"],
  ])("refuses what EKS does not take: %s %o", (key, change, said) => {
    const world = told(key, change);
    expect(problem(world)).toMatchObject({ status: "False", reason: "InvalidNetwork" });
    expect(problem(world)?.message).toContain(said);
    expect(kindsOf(world)).not.toContain("Cluster");
  });

  test("rejects a VPC of another account, whose tags AWS RAM doesn't show", () => {
    const world = told("vpc", { ownerId: "999999999999", tags: {} });
    expect(problem(world)).toMatchObject({ status: "False", reason: "NetworkNotShared" });
    expect(problem(world)?.message).toContain("belong to account 999999999999, which shares them by AWS RAM");
    expect(problem(world)?.message).not.toContain("create-tags");
    expect(kindsOf(world)).not.toContain("Cluster");
    expect(kindsOf(told("vpc", { ownerId: "000000000000" }))).toContain("Cluster");
  });

  test("rejects a block for Services that overlaps the VPC", () => {
    const asked = inShared();
    const services = (serviceIpv4Cidr: string) =>
      told(
        "vpc",
        { cidrBlock: "10.30.0.0/16" },
        { ...asked, spec: { ...asked.spec, network: { ...asked.spec.network, serviceIpv4Cidr } } },
      );
    const world = services("10.16.0.0/12");
    expect(problem(world)).toMatchObject({ status: "False", reason: "InvalidNetwork" });
    expect(problem(world)?.message).toContain("network.serviceIpv4Cidr 10.16.0.0/12 overlaps 10.30.0.0/16");
    expect(kindsOf(world)).not.toContain("Cluster");
    expect(kindsOf(services("10.31.0.0/16"))).toContain("Cluster");
  });

  test("keeps its cluster when the owner takes the tag back, and says so", () => {
    const world = running(inShared());
    const before = [...world.live.keys()];
    world.report("subnet-private-0", says({ tags: {} })).settle();
    expect([...world.live.keys()]).toEqual(before);
    expect(problem(world)).toMatchObject({ status: "False", reason: "NetworkNotShared" });
    expect(problem(world)?.message).toContain(all[1]);
  });

  test("is not taken in by a Spoke of the same name when its cluster is another Spoke's", () => {
    const world = new World(inShared());
    world.report(
      "cluster",
      says({ encryptionConfig: { provider: { keyArn: "arn:aws:kms:us-east-1:000000000000:key/other" } } }),
    );
    world.settle();
    expect(problem(world)).toMatchObject({ status: "False", reason: "ClusterExists" });
    expect(problem(world)?.message).not.toContain("delete vpc-");
    expect(at(world.object("cluster").spec, "managementPolicies")).not.toContain("Delete");
  });

  test("leaves the network to the end of its removal, and as it is", () => {
    const world = running(inShared());
    world.delete().settle(80);
    expect(world.gone).toBe(true);
    const order = world.removed.filter((key) =>
      ["cluster", "vpc", "subnet-private-0", "network-10-0-0-0-16"].includes(key),
    );
    expect(order).toEqual(["cluster", "subnet-private-0", "vpc", "network-10-0-0-0-16"]);
  });
});
