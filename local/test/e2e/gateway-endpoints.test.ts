import type { VpcEndpoint } from "@aws-sdk/client-ec2";
import { describe, expect, test, vi } from "vitest";
import { cloud, ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

/** Interface endpoints as EC2 makes them, and what it refuses. */

let VpcId: string;
let subnets: string[];
useGatewayCloud(async () => {
  subnets = await cloud.subnets();
  const { Subnets } = await ec2.describeSubnets({ SubnetIds: subnets });
  VpcId = Subnets?.[0]?.VpcId ?? "";
});

const service = (name: string) => `com.amazonaws.us-east-1.${name}`;
const create = (name: string, more: object = {}) =>
  ec2.createVpcEndpoint({ VpcId, VpcEndpointType: "Interface", ServiceName: service(name), ...more });
const unnamed = { PrivateDnsEnabled: false };
const describeEndpoint = async (VpcEndpointId: string): Promise<VpcEndpoint | undefined> =>
  (await ec2.describeVpcEndpoints({ VpcEndpointIds: [VpcEndpointId] })).VpcEndpoints?.[0];
const interfaces = async (id: string) => {
  const { NetworkInterfaces = [] } = await ec2.describeNetworkInterfaces({});
  return NetworkInterfaces.filter(({ Description }) => Description === `VPC Endpoint Interface ${id}`);
};
const group = async (GroupName: string) =>
  (await ec2.createSecurityGroup({ GroupName, VpcId, Description: GroupName })).GroupId ?? "";

describe("an interface endpoint", { timeout: 60_000 }, () => {
  let id: string;
  test("has the VPC's default group, becomes available, and an interface in each subnet that joins it", async () => {
    id = (await create("sts", unnamed)).VpcEndpoint?.VpcEndpointId ?? "";
    expect((await describeEndpoint(id))?.Groups).toEqual([expect.objectContaining({ GroupName: "default" })]);
    for (const subnet of subnets) await ec2.modifyVpcEndpoint({ VpcEndpointId: id, AddSubnetIds: [subnet] });
    expect(await describeEndpoint(id)).toMatchObject({ State: "pending", PrivateDnsEnabled: false });
    await vi.waitFor(async () => expect((await describeEndpoint(id))?.State).toBe("available"), { timeout: 20_000 });
    const made = await interfaces(id);
    expect(made.map(({ SubnetId }) => SubnetId).sort()).toEqual([...subnets].sort());
    expect((await describeEndpoint(id))?.NetworkInterfaceIds).toHaveLength(2);
    const NetworkInterfaceId = made[0]?.NetworkInterfaceId;
    expect(await outcome(ec2.deleteNetworkInterface({ NetworkInterfaceId }))).toBe("InvalidParameterValue");
  });

  test("joins and leaves groups, but for the last one, and keeps a group that it is in", async () => {
    const mine = await group("mine");
    const modify = (more: object) => ec2.modifyVpcEndpoint({ VpcEndpointId: id, ...more });
    await modify({ AddSecurityGroupIds: [mine] });
    expect((await interfaces(id))[0]?.Groups?.map(({ GroupName }) => GroupName)).toEqual(["default", "mine"]);
    expect(await outcome(ec2.deleteSecurityGroup({ GroupId: mine }))).toBe("DependencyViolation");
    await modify({ RemoveSecurityGroupIds: [mine] });
    const [last] = (await describeEndpoint(id))?.Groups ?? [];
    expect(await outcome(modify({ RemoveSecurityGroupIds: [last?.GroupId ?? ""] }))).toBe("InvalidParameter");
    expect(await outcome(ec2.deleteSecurityGroup({ GroupId: mine }))).toBe("allowed");
  });

  test("holds its subnets until its interfaces are gone", async () => {
    await ec2.deleteVpcEndpoints({ VpcEndpointIds: [id] });
    expect((await describeEndpoint(id))?.State).toBe("deleting");
    const modified = ec2.modifyVpcEndpoint({ VpcEndpointId: id, RemoveSubnetIds: [subnets[0] ?? ""] });
    expect(await outcome(modified)).toBe("InvalidParameter");
    expect(await outcome(ec2.deleteSubnet({ SubnetId: subnets[0] }))).toBe("DependencyViolation");
    await vi.waitFor(async () => expect(await describeEndpoint(id)).toBeUndefined(), { timeout: 20_000 });
    expect(await interfaces(id)).toEqual([]);
  });
});

describe("EC2 refuses an interface endpoint", () => {
  test("for a service that there is not, and with route tables", async () => {
    expect(await outcome(create("telepathy", unnamed))).toBe("InvalidServiceName");
    expect(await outcome(create("sts", { ...unnamed, RouteTableIds: ["rtb-0123456789abcdef0"] }))).not.toBe("allowed");
  });

  test("that takes over a name where the VPC has no DNS host names, or another one has", async () => {
    expect(await outcome(create("kms"))).toBe("InvalidParameter");
    await ec2.modifyVpcAttribute({ VpcId, EnableDnsHostnames: { Value: true } });
    expect(await outcome(create("kms"))).toBe("allowed");
    expect(await outcome(create("kms"))).toBe("InvalidParameter");
    expect(await outcome(create("kms", unnamed))).toBe("allowed");
  });

  test("in two subnets of one zone", async () => {
    const { Subnets } = await ec2.describeSubnets({ SubnetIds: [subnets[0] ?? ""] });
    const AvailabilityZone = Subnets?.[0]?.AvailabilityZone ?? "";
    const made = await ec2.createSubnet({ VpcId, AvailabilityZone, CidrBlock: "10.0.240.0/24" });
    const SubnetIds = [subnets[0] ?? "", made.Subnet?.SubnetId ?? ""];
    expect(await outcome(create("sqs", { ...unnamed, SubnetIds }))).toBe("DuplicateSubnetsInSameZone");
  });

  test("to who may not have a VPC join a hosted zone, where it takes over a name", async () => {
    const Statement = [{ Effect: "Allow", Action: ["ec2:*"], Resource: "*" }];
    const role = await cloud.roleWith("endpoints", { Version: "2012-10-17", Statement });
    const call = (more: object) =>
      outcome(
        role.ec2.createVpcEndpoint({ VpcId, VpcEndpointType: "Interface", ServiceName: service("logs"), ...more }),
      );
    expect(await call({})).toMatch(/Unauthorized|AccessDenied/);
    expect(await call(unnamed)).toBe("allowed");
  });
});
