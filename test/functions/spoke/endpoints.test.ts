import { describe, expect, test } from "vitest";
import { type EndpointService, serviceName } from "../../../functions/spoke/endpoints.ts";
import { at } from "../../../functions/spoke/kube.ts";
import { spoke } from "./support/fixtures.ts";
import { isolatedServices } from "./support/rule-cases.ts";
import { failing, running, World } from "./support/world.ts";

const withEndpoints = (endpoints: readonly EndpointService[], network: object = {}, change: object = {}) =>
  spoke({ network: { endpoints, ...network }, ...change });
const isolated = (more: readonly EndpointService[] = []) =>
  withEndpoints([...isolatedServices, ...more], { natGateways: "isolated" });
const own = (world: World) =>
  [...world.live.keys()].filter((key) => key.startsWith("endpoint-") && !key.startsWith("endpoint-s3")).sort();
const nodeGroupOf = (world: World) => [...world.live.keys()].find((key) => key.startsWith("node-group"));

describe("endpoints of a spoke's VPC", () => {
  test("are those for S3 alone unless the Spoke asks for others", () => expect(own(running(spoke()))).toEqual([]));

  test("are in a private subnet of every zone, under the name of their service, and let members of the cluster's group in", () => {
    const world = running(withEndpoints(["ecr.api"]));
    expect(own(world)).toEqual([
      "endpoint-ecr-api",
      "endpoint-ecr-api-group",
      "endpoint-ecr-api-subnet-0",
      "endpoint-ecr-api-subnet-1",
    ]);
    expect(world.forProvider("endpoint-ecr-api")).toMatchObject({
      vpcId: world.spoke.status?.network?.vpcId,
      vpcEndpointType: "Interface",
      serviceName: "com.amazonaws.us-east-1.ecr.api",
      privateDnsEnabled: true,
    });
    const id = at(world.object("endpoint-ecr-api").status, "atProvider", "id");
    for (const zone of [0, 1])
      expect(world.forProvider(`endpoint-ecr-api-subnet-${zone}`)).toEqual({
        region: "us-east-1",
        vpcEndpointId: id,
        subnetId: `subnet-subnet-private-${zone}`,
      });
    expect(world.forProvider("endpoint-ecr-api-group")).toEqual({
      region: "us-east-1",
      vpcEndpointId: id,
      securityGroupId: "sg-cluster",
    });
  });

  test("are routes in every table for DynamoDB, as for S3", () => {
    const world = running(withEndpoints(["dynamodb"]));
    expect(own(world)).toEqual(["", "-private-0", "-private-1", "-public"].map((end) => `endpoint-dynamodb${end}`));
    expect(world.forProvider("endpoint-dynamodb")).toMatchObject({
      vpcEndpointType: "Gateway",
      serviceName: "com.amazonaws.us-east-1.dynamodb",
    });
  });

  test("come and go while the cluster runs, without a change of anything else", () => {
    const world = running(withEndpoints(["sts"]));
    const group = nodeGroupOf(world);
    world.change({ network: { ...world.spoke.spec.network, endpoints: ["ec2"] } });
    expect(world.settle().ready).toBe(true);
    expect(own(world).filter((key) => !key.startsWith("endpoint-ec2"))).toEqual([]);
    const { endpoints: _, ...network } = world.spoke.spec.network;
    world.change({ network });
    expect(world.settle().ready).toBe(true);
    expect(own(world)).toEqual([]);
    expect(nodeGroupOf(world)).toBe(group);
  });

  test("go after the nodes and before the cluster, whose group they have", () => {
    const world = running(withEndpoints(["sts"]));
    world.delete().settle(80);
    const places = ["endpoint-sts", "endpoint-sts-group", "endpoint-sts-subnet-0"].map((key) =>
      world.removed.indexOf(key),
    );
    expect(Math.min(...places)).toBeGreaterThan(world.removed.findIndex((key) => key.startsWith("node-group")));
    expect(Math.max(...places)).toBeLessThan(world.removed.indexOf("cluster"));
  });

  test("tell in the condition of the nodes why AWS makes none", () => {
    const world = new World(isolated());
    world.report("endpoint-sts", failing("The Vpc Endpoint Service does not exist"));
    const { conditions } = world.settle();
    const said = conditions.find(({ type }) => type === "NodesReady");
    expect(said).toMatchObject({
      status: "False",
      message: expect.stringContaining("The Vpc Endpoint Service does not exist"),
    });
  });

  test("have the names of their services in China's regions, some of which begin with cn", () => {
    expect(serviceName("ecr.dkr", "cn-north-1")).toBe("cn.com.amazonaws.cn-north-1.ecr.dkr");
    expect(serviceName("secretsmanager", "cn-north-1")).toBe("com.amazonaws.cn-north-1.secretsmanager");
    expect(serviceName("s3", "cn-north-1")).toBe("com.amazonaws.cn-north-1.s3");
    expect(serviceName("ecr.dkr", "eu-west-1")).toBe("com.amazonaws.eu-west-1.ecr.dkr");
  });
});

describe("a spoke without internet access", () => {
  test("has private subnets and routes to S3, and neither an internet gateway nor anything public", () => {
    const world = running(isolated());
    const keys = [...world.live.keys()];
    expect(keys.filter((key) => /public|internet|^nat-|^address-|^route-(?!table)/.test(key))).toEqual([]);
    expect(keys.filter((key) => key.startsWith("subnet-"))).toEqual(["subnet-private-0", "subnet-private-1"]);
    expect(at(world.forProvider("cluster"), "vpcConfig", "subnetIds")).toEqual([
      "subnet-subnet-private-0",
      "subnet-subnet-private-1",
    ]);
    expect(world.forProvider(nodeGroupOf(world) ?? "")["subnetIds"]).toEqual([
      "subnet-subnet-private-0",
      "subnet-subnet-private-1",
    ]);
    expect(keys.filter((key) => key.startsWith("endpoint-s3"))).toHaveLength(3);
    expect(at(world.forProvider("subnet-private-0"), "tags", "karpenter.sh/discovery")).toBe("fleet-spoke-blue");
  });

  test("makes its nodes when every endpoint is usable, because they join by these", () => {
    const world = new World(isolated(["logs"]));
    world.report("endpoint-logs-subnet-1", failing("not yet")).settle();
    expect(nodeGroupOf(world)).toBeUndefined();
    world.reports.clear();
    expect(world.settle().ready).toBe(true);
    expect(nodeGroupOf(world)).toBeDefined();
  });

  test("is removed in order", () => {
    const world = running(isolated());
    world.delete().settle(80);
    expect(world.live.size).toBe(0);
  });
});
