import { expect, test } from "vitest";
import { ec2, useGatewayCloud } from "../support/gateway.ts";

/** What EC2 does not make a second time. */

let VpcId: string | undefined;
useGatewayCloud(async () => {
  VpcId = (await ec2.createVpc({ CidrBlock: "10.20.0.0/16" })).Vpc?.VpcId;
});

const subnet = async (CidrBlock: string, vpc = VpcId) =>
  (await ec2.createSubnet({ VpcId: vpc, CidrBlock })).Subnet?.SubnetId;
const table = async () => (await ec2.createRouteTable({ VpcId })).RouteTable?.RouteTableId;

/** The code and the message that a call is refused with. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "allowed",
    ({ name, message }: Error) => `${name}: ${message}`,
  );

test("a subnet that overlaps one of its VPC is refused, in another VPC it is made", async () => {
  await subnet("10.20.0.0/24");
  for (const block of ["10.20.0.0/24", "10.20.0.128/25", "10.20.0.0/20"])
    expect(await refusal(subnet(block))).toBe(
      `InvalidSubnet.Conflict: The CIDR '${block}' conflicts with another subnet`,
    );
  const other = (await ec2.createVpc({ CidrBlock: "10.20.0.0/16" })).Vpc?.VpcId;
  expect(await refusal(subnet("10.20.0.0/24", other))).toBe("allowed");
  expect(await refusal(subnet("10.20.1.0/24"))).toBe("allowed");
});

test("a subnet has one route table: a second association is refused, with the same table too", async () => {
  const [SubnetId, first, second] = [await subnet("10.20.2.0/24"), await table(), await table()];
  const associate = (RouteTableId: string | undefined) => ec2.associateRouteTable({ RouteTableId, SubnetId });
  await associate(first);
  for (const id of [first, second])
    expect(await refusal(associate(id))).toBe(
      `Resource.AlreadyAssociated: the specified association for route table ${id} conflicts with an existing association`,
    );
});

test("a route to a destination that a table has is refused, that of the VPC itself too", async () => {
  const { InternetGateway } = await ec2.createInternetGateway({});
  const GatewayId = InternetGateway?.InternetGatewayId;
  await ec2.attachInternetGateway({ VpcId, InternetGatewayId: GatewayId });
  const route = async (RouteTableId: string | undefined, DestinationCidrBlock: string) =>
    refusal(ec2.createRoute({ RouteTableId, DestinationCidrBlock, GatewayId }));
  const [one, other] = [await table(), await table()];
  expect(await route(one, "0.0.0.0/0")).toBe("allowed");
  for (const block of ["0.0.0.0/0", "10.20.0.0/16"])
    expect(await route(one, block)).toBe(`RouteAlreadyExists: The route identified by ${block} already exists.`);
  expect(await route(other, "0.0.0.0/0")).toBe("allowed");
});

test("a rule that a security group has is refused, whatever its description, and nothing of its call is made", async () => {
  const made = await ec2.createSecurityGroup({ VpcId, GroupName: "twice", Description: "twice" });
  const { GroupId } = made;
  const port = (IpProtocol: string, ...networks: string[]) => ({
    GroupId,
    IpPermissions: [
      {
        IpProtocol,
        FromPort: 443,
        ToPort: 443,
        IpRanges: networks.map((CidrIp) => ({ CidrIp, Description: `${IpProtocol} ${networks.length}` })),
      },
    ],
  });
  const all = { GroupId, IpPermissions: [{ IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] }] };
  const admit = (rules: ReturnType<typeof port>) => refusal(ec2.authorizeSecurityGroupIngress(rules));
  const refused =
    'InvalidPermission.Duplicate: the specified rule "peer: 10.0.0.0/8, TCP, from port: 443, to port: 443, ALLOW" already exists';
  expect(await admit(port("tcp", "10.0.0.0/8"))).toBe("allowed");
  expect(await admit(port("6", "10.0.0.0/8"))).toBe(refused);
  expect(await admit(port("tcp", "172.16.0.0/12", "10.0.0.0/8"))).toBe(refused);
  const Filters = [{ Name: "group-id", Values: [GroupId ?? ""] }];
  const { SecurityGroupRules = [] } = await ec2.describeSecurityGroupRules({ Filters });
  expect(SecurityGroupRules.filter(({ IsEgress }) => !IsEgress).map(({ CidrIpv4 }) => CidrIpv4)).toEqual([
    "10.0.0.0/8",
  ]);
  expect(await admit(port("udp", "10.0.0.0/8"))).toBe("allowed");
  // AWS makes this one with the group.
  expect(await refusal(ec2.authorizeSecurityGroupEgress(all))).toBe(
    'InvalidPermission.Duplicate: the specified rule "peer: 0.0.0.0/0, ALL, ALLOW" already exists',
  );
  await ec2.revokeSecurityGroupIngress(port("tcp", "10.0.0.0/8"));
  expect(await admit(port("tcp", "10.0.0.0/8"))).toBe("allowed");
});

test("a NAT gateway with an address that another has is accepted, and fails; it holds neither its subnet nor the address", async () => {
  const [first, second] = [await subnet("10.20.3.0/24"), await subnet("10.20.4.0/24")];
  const { AllocationId } = await ec2.allocateAddress({ Domain: "vpc" });
  const make = async (SubnetId: string | undefined) =>
    (await ec2.createNatGateway({ SubnetId, AllocationId })).NatGateway;
  const described = async (id: string | undefined) => {
    const { NatGateways } = await ec2.describeNatGateways({ NatGatewayIds: [id ?? ""] });
    return NatGateways?.[0];
  };
  const one = await make(first);
  const two = await make(second);
  expect(two?.State).toBe("pending");
  expect(await described(two?.NatGatewayId)).toMatchObject({
    State: "failed",
    FailureCode: "Resource.AlreadyAssociated",
    FailureMessage: `Elastic IP address [${AllocationId}] is already associated`,
    NatGatewayAddresses: [{ AllocationId }],
  });
  expect((await described(two?.NatGatewayId))?.NatGatewayAddresses?.[0]?.PublicIp).toBeUndefined();
  expect((await described(one?.NatGatewayId))?.NatGatewayAddresses?.[0]?.PublicIp).toBeDefined();
  expect(await refusal(ec2.deleteSubnet({ SubnetId: second }))).toBe("allowed");
  const tagged = { Name: "tag:of", Values: ["another"] };
  const addresses = async (...Filters: { Name: string; Values: string[] }[]) =>
    (await ec2.describeAddresses({ Filters })).Addresses ?? [];
  expect(await addresses(tagged)).toEqual([]);
  expect(await refusal(addresses({ Name: "colour", Values: ["red"] }))).toMatch(/^InvalidParameterValue: /);
  const ofFirst = { Name: "allocation-id", Values: [AllocationId ?? ""] };
  const [used] = await addresses(ofFirst);
  expect(used).toMatchObject({ AllocationId, NetworkInterfaceId: expect.stringMatching(/^eni-/) });
  expect(await described(one?.NatGatewayId)).toMatchObject({
    NatGatewayAddresses: [{ AssociationId: used?.AssociationId, NetworkInterfaceId: used?.NetworkInterfaceId }],
  });
  const { AssociationId } = used ?? {};
  expect(await refusal(ec2.disassociateAddress({ AssociationId }))).toMatch(/^AuthFailure: /);
  await ec2.deleteNatGateway({ NatGatewayId: one?.NatGatewayId });
  expect((await addresses(ofFirst))[0]?.AssociationId).toBeUndefined();
  expect((await described((await make(first))?.NatGatewayId))?.State).toBe("available");
});

test("a zonal NAT gateway takes no VPC", async () => {
  const SubnetId = await subnet("10.20.5.0/24");
  const request = { SubnetId, VpcId, ConnectivityType: "private" } as const;
  expect(await refusal(ec2.createNatGateway(request))).toBe(
    "MissingParameter: VpcId is not supported for a NAT gateway with availability mode zonal",
  );
});

test("whoever asks for the endpoints of a VPC is told of no other's", async () => {
  const ServiceName = "com.amazonaws.us-east-1.s3";
  const { VpcEndpoint } = await ec2.createVpcEndpoint({ VpcId, ServiceName });
  const endpoints = async (Name: string, value = "") =>
    ((await ec2.describeVpcEndpoints({ Filters: [{ Name, Values: [value] }] })).VpcEndpoints ?? []).map(
      ({ VpcEndpointId }) => VpcEndpointId,
    );
  expect(await endpoints("vpc-id", VpcId)).toEqual([VpcEndpoint?.VpcEndpointId]);
  expect(await endpoints("vpc-id", "vpc-0123456789abcdef0")).toEqual([]);
  expect(await refusal(endpoints("colour", "red"))).toMatch(/^InvalidParameterValue: /);
});
