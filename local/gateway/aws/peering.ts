import type { EC2, RouteTable, RouteTableAssociation, Vpc, VpcPeeringConnection } from "@aws-sdk/client-ec2";

/** A block that a subnet routes to another VPC, over a peering connection that is active. */
export interface PeeredRoute {
  readonly cidr: string;
  readonly vpcId: string;
}

/** The network of a VPC, as far as it leads to other VPCs: transit gateways are records that no packet passes. */
export async function vpcNetwork(ec2: EC2, vpcId: string) {
  const [{ Vpcs = [] }, { RouteTables = [] }, { VpcPeeringConnections = [] }] = await Promise.all([
    ec2.describeVpcs({ Filters: [{ Name: "vpc-id", Values: [vpcId] }] }),
    ec2.describeRouteTables({ Filters: [{ Name: "vpc-id", Values: [vpcId] }] }),
    ec2.describeVpcPeeringConnections({ Filters: [{ Name: "status-code", Values: ["active"] }] }),
  ]);
  return {
    /** IPv4 blocks of the VPC. */
    cidrs: Vpcs.flatMap(cidrsOf),
    peeredRoutes: (subnetId: string) => peeredRoutes(tableOf(RouteTables, subnetId), VpcPeeringConnections, vpcId),
  };
}

/** The primary block and those that were associated later. */
const cidrsOf = ({ CidrBlock, CidrBlockAssociationSet = [] }: Vpc): string[] => {
  const associated = CidrBlockAssociationSet.filter(({ CidrBlockState }) => CidrBlockState?.State === "associated");
  return [...new Set([CidrBlock, ...associated.map((each) => each.CidrBlock)])].filter((cidr) => cidr !== undefined);
};

/** The table of a subnet: its own, or the VPC's main one. */
export function tableOf(tables: readonly RouteTable[], subnetId: string): RouteTable | undefined {
  const associated = (is: (association: RouteTableAssociation) => boolean) =>
    tables.find(({ Associations = [] }) => Associations.some(is));
  return associated(({ SubnetId }) => SubnetId === subnetId) ?? associated(({ Main }) => Main === true);
}

/** @param active the peering connections that carry packets; routes over others lead nowhere. */
export function peeredRoutes(
  table: RouteTable | undefined,
  active: readonly VpcPeeringConnection[],
  vpcId: string,
): PeeredRoute[] {
  return (table?.Routes ?? []).flatMap(({ DestinationCidrBlock: cidr, VpcPeeringConnectionId }) => {
    const connection = active.find((each) => each.VpcPeeringConnectionId === VpcPeeringConnectionId);
    const ends = [connection?.RequesterVpcInfo?.VpcId, connection?.AccepterVpcInfo?.VpcId];
    if (cidr === undefined || !ends.includes(vpcId)) return [];
    return ends.flatMap((end) => (end === undefined || end === vpcId ? [] : { cidr, vpcId: end }));
  });
}
