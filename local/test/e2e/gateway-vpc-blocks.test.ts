import { expect, test } from "vitest";
import { ec2, outcome, useGatewayCloud } from "../support/gateway.ts";

/** Further blocks of a VPC. */

const BLOCK = "100.64.0.0/16";
let VpcId: string | undefined;
useGatewayCloud(async () => {
  VpcId = (await ec2.createVpc({ CidrBlock: "10.64.0.0/18" })).Vpc?.VpcId;
});

const associate = (CidrBlock: string) => ec2.associateVpcCidrBlock({ VpcId, CidrBlock });
const disassociate = (AssociationId: string | undefined) => outcome(ec2.disassociateVpcCidrBlock({ AssociationId }));
const subnet = (CidrBlock: string) => ec2.createSubnet({ VpcId, CidrBlock });

test("EC2 takes a block of 100.64.0.0/10 beside a private one, and no other private range, none twice and none too large", async () => {
  expect(await outcome(associate("172.16.0.0/16"))).toBe("InvalidVpc.Range");
  expect(await outcome(associate("198.19.0.0/16"))).toBe("InvalidVpc.Range");
  expect(await outcome(associate("100.64.0.0/15"))).toBe("InvalidVpc.Range");
  expect(await outcome(associate("10.64.16.0/20"))).toBe("CidrConflict");
  const { CidrBlockAssociation } = await associate(BLOCK);
  expect(CidrBlockAssociation?.AssociationId).toMatch(/^vpc-cidr-assoc-[0-9a-f]{17}$/);
  expect(await outcome(associate("100.64.128.0/17"))).toBe("CidrConflict");
  const { Vpcs } = await ec2.describeVpcs({ VpcIds: [VpcId ?? ""] });
  expect(Vpcs?.[0]?.CidrBlockAssociationSet?.map(({ CidrBlock }) => CidrBlock)).toEqual(["10.64.0.0/18", BLOCK]);
});

test("subnets are in one of the VPC's blocks, to all of which every table has a local route", async () => {
  expect(await outcome(subnet("100.65.0.0/18"))).toBe("InvalidSubnet.Range");
  await subnet("10.64.0.0/20");
  const { RouteTable } = await ec2.createRouteTable({ VpcId });
  const ids = [RouteTable?.RouteTableId ?? ""];
  const { RouteTables } = await ec2.describeRouteTables({ RouteTableIds: ids });
  const local = RouteTables?.[0]?.Routes?.filter(({ GatewayId }) => GatewayId === "local");
  expect(local?.map(({ DestinationCidrBlock }) => DestinationCidrBlock)).toEqual(["10.64.0.0/18", BLOCK]);
});

test("a block leaves when no subnet is in it", async () => {
  const { Vpcs } = await ec2.describeVpcs({ VpcIds: [VpcId ?? ""] });
  const id = Vpcs?.[0]?.CidrBlockAssociationSet?.find(({ CidrBlock }) => CidrBlock === BLOCK)?.AssociationId;
  const { Subnet } = await subnet("100.64.0.0/18");
  expect(await disassociate(id)).toBe("DependencyViolation");
  await ec2.deleteSubnet({ SubnetId: Subnet?.SubnetId });
  expect(await disassociate(id)).toBe("allowed");
  expect(await disassociate(id)).toBe("InvalidVpcCidrBlockAssociationID.NotFound");
});
