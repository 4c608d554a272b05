import { describe, expect, test } from "vitest";
import { at } from "../../../functions/spoke/kube.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { failing, running, settled, World } from "./support/world.ts";

const BLOCK = "100.64.0.0/16";
const withPods = (network: object = {}) => spoke({ network: { podCidr: BLOCK, ...network } });
const own = (world: World) => [...world.live.keys()].filter((key) => /(^|-)pod-/.test(key)).sort();
const cni = (world: World) => JSON.parse(String(world.forProvider("addon-vpc-cni")["configurationValues"]));

describe("a block of a spoke's VPC for pods", () => {
  test("is not there unless the Spoke names one", () => {
    const world = running(spoke());
    expect(own(world)).toEqual([]);
    expect(Object.keys(cni(world).env)).toEqual(["ADDITIONAL_ENI_TAGS"]);
    expect(cni(world).eniConfig).toBeUndefined();
  });

  test("has a quarter for each zone, with the routes of the private subnet there", () => {
    const world = running(withPods({ zones: 3 }));
    expect(own(world)).toEqual([
      ...[0, 1, 2].map((zone) => `association-pod-${zone}`),
      "pod-block",
      ...[0, 1, 2].map((zone) => `subnet-pod-${zone}`),
    ]);
    expect(world.forProvider("pod-block")).toEqual({
      region: "us-east-1",
      vpcId: world.spoke.status?.network?.vpcId,
      cidrBlock: BLOCK,
    });
    expect([0, 1, 2].map((zone) => world.forProvider(`subnet-pod-${zone}`)["cidrBlock"])).toEqual([
      "100.64.0.0/18",
      "100.64.64.0/18",
      "100.64.128.0/18",
    ]);
    for (const zone of [0, 1, 2]) {
      expect(world.forProvider(`subnet-pod-${zone}`)["availabilityZone"]).toBe(
        world.forProvider(`subnet-private-${zone}`)["availabilityZone"],
      );
      expect(world.forProvider(`association-pod-${zone}`)["routeTableId"]).toBe(
        world.forProvider(`association-private-${zone}`)["routeTableId"],
      );
    }
  });

  test("has neither nodes nor load balancers in it", () => {
    const world = running(withPods());
    const tags = at(world.forProvider("subnet-pod-0"), "tags") as Record<string, string>;
    expect(Object.keys(tags).filter((key) => /^(kubernetes\.io\/role|karpenter)/.test(key))).toEqual([]);
    expect(tags["eks-cluster-name"]).toBe("fleet-spoke-blue");
    const group = [...world.live.keys()].find((key) => key.startsWith("node-group")) ?? "";
    const subnets = JSON.stringify([world.forProvider(group)["subnetIds"], world.forProvider("cluster")["vpcConfig"]]);
    expect(subnets).not.toContain("subnet-pod");
  });

  test("is what the VPC CNI takes pods' addresses from, by the zone of the node and with the cluster's group", () => {
    const { env, eniConfig, enableNetworkPolicy } = cni(running(withPods()));
    expect(enableNetworkPolicy).toBe("true");
    expect(env).toMatchObject({
      AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: "true",
      ENI_CONFIG_LABEL_DEF: "topology.kubernetes.io/zone",
      ENABLE_PREFIX_DELEGATION: "true",
    });
    expect(JSON.parse(env.ADDITIONAL_ENI_TAGS)).toMatchObject({ "fleet.internal/cluster": "blue" });
    expect(eniConfig).toEqual({
      create: true,
      region: "us-east-1",
      subnets: Object.fromEntries(
        [0, 1].map((zone) => [
          hub.hubAvailabilityZones[zone],
          { id: `subnet-subnet-pod-${zone}`, securityGroups: ["sg-cluster"] },
        ]),
      ),
    });
  });

  test("is there before the VPC CNI, and so before the nodes", () => {
    const world = new World(withPods());
    world.report("pod-block", failing("The CIDR is restricted"));
    const { conditions } = world.settle();
    expect(conditions.find(({ type }) => type === "NetworkReady")?.message).toContain("The CIDR is restricted");
    expect(world.live.has("addon-vpc-cni")).toBe(false);
    expect([...world.live.keys()].filter((key) => key.startsWith("node-group"))).toEqual([]);
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
  });

  test("goes after its subnets and before the VPC", () => {
    const world = running(withPods());
    world.delete().settle(80);
    const order = ["cluster", "subnet-pod-0", "pod-block", "vpc"].map((key) => world.removed.indexOf(key));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(world.live.size).toBe(0);
  });

  test("is not the block that the pool gives the VPC", () => {
    const small = { ...hub, spokeCidrPool: "100.64.0.0/17" };
    const world = settled(withPods({ podCidr: "100.64.0.0/18" }), { hub: small });
    expect(world.forProvider("vpc")["cidrBlock"]).toBe("100.64.64.0/18");
  });
});
