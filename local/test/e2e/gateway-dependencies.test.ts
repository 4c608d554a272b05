import { expect, test } from "vitest";
import { cloud, ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

/** What EC2 does not remove while something uses it. */

let subnets: string[];
useGatewayCloud(async () => {
  subnets = await cloud.subnets();
});

const deleting = (SubnetId: string | undefined) => outcome(ec2.deleteSubnet({ SubnetId }));

test("a subnet with an interface in it stays, and one with a NAT gateway, until these are gone", async () => {
  const [first, second] = subnets;
  const { NetworkInterface } = await ec2.createNetworkInterface({ SubnetId: first });
  const { NatGateway } = await ec2.createNatGateway({ SubnetId: second, ConnectivityType: "private" });
  expect([await deleting(first), await deleting(second)]).toEqual(["DependencyViolation", "DependencyViolation"]);
  const { NetworkInterfaceId } = NetworkInterface ?? {};
  await ec2.deleteNetworkInterface({ NetworkInterfaceId });
  await ec2.deleteNatGateway({ NatGatewayId: NatGateway?.NatGatewayId });
  expect(await deleting(second)).toBe("allowed");
});

test("a security group that an interface or another group's rule uses stays until it does not", async () => {
  const [SubnetId] = subnets;
  const { Subnets } = await ec2.describeSubnets({ SubnetIds: [SubnetId ?? ""] });
  const group = async (GroupName: string) => {
    const VpcId = Subnets?.[0]?.VpcId;
    const { GroupId } = await ec2.createSecurityGroup({ GroupName, VpcId, Description: GroupName });
    return GroupId ?? "";
  };
  const [used, using] = [await group("used"), await group("using")];
  const removing = (GroupId: string) => outcome(ec2.deleteSecurityGroup({ GroupId }));
  const { NetworkInterface } = await ec2.createNetworkInterface({ SubnetId, Groups: [used] });
  expect(await removing(used)).toBe("DependencyViolation");
  const { NetworkInterfaceId } = NetworkInterface ?? {};
  await ec2.deleteNetworkInterface({ NetworkInterfaceId });
  const rule = { GroupId: using, IpPermissions: [{ IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: used }] }] };
  await ec2.authorizeSecurityGroupIngress(rule);
  expect(await removing(used)).toBe("DependencyViolation");
  await ec2.revokeSecurityGroupIngress(rule);
  expect([await removing(used), await removing(using)]).toEqual(["allowed", "allowed"]);
});
