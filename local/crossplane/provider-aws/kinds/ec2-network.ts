import { eip } from "../../../aws/ec2/eip.ts";
import { internetGateway } from "../../../aws/ec2/internet-gateway.ts";
import { natGateway } from "../../../aws/ec2/nat-gateway.ts";
import { type RouteInputs, route, routeId } from "../../../aws/ec2/route.ts";
import { routeTable } from "../../../aws/ec2/route-table.ts";
import { routeTableAssociation } from "../../../aws/ec2/route-table-association.ts";
import { subnet } from "../../../aws/ec2/subnet.ts";
import { vpc } from "../../../aws/ec2/vpc.ts";
import { vpcEndpoint } from "../../../aws/ec2/vpc-endpoint.ts";
import { vpcEndpointRouteTableAssociation } from "../../../aws/ec2/vpc-endpoint-route-table-association.ts";
import { from, id, reference } from "../fields.ts";
import { assigned, joined, type Kind } from "../kind.ts";
import { associationOf, byTags } from "./ec2-recovery.ts";

const group = "ec2";
const vpcId = reference("ec2/VPC");
const owner = { arn: "string", ownerId: "string" } as const;

export const network: readonly Kind[] = [
  {
    ...{ group, kind: "VPC", plural: "vpcs", handler: vpc, externalName: assigned, recover: byTags("vpc") },
    spec: {
      cidrBlock: "string",
      enableDnsHostnames: "boolean",
      enableDnsSupport: "boolean",
      enableNetworkAddressUsageMetrics: "boolean",
      instanceTenancy: "string",
    },
    status: {
      ...owner,
      defaultNetworkAclId: "string",
      defaultRouteTableId: "string",
      defaultSecurityGroupId: "string",
      dhcpOptionsId: "string",
      mainRouteTableId: "string",
    },
  },
  {
    ...{ group, kind: "Subnet", plural: "subnets", handler: subnet, externalName: assigned, recover: byTags("subnet") },
    asynchronous: true,
    spec: {
      availabilityZone: "string",
      availabilityZoneId: "string",
      cidrBlock: "string",
      mapPublicIpOnLaunch: "boolean",
      vpcId,
    },
    status: owner,
  },
  {
    ...{ group, kind: "InternetGateway", plural: "internetgateways", handler: internetGateway },
    ...{ externalName: assigned, recover: byTags("internet-gateway") },
    spec: { vpcId },
    status: owner,
  },
  {
    ...{ group, kind: "EIP", plural: "eips", handler: eip, externalName: assigned, recover: byTags("elastic-ip") },
    asynchronous: true,
    spec: {
      associateWithPrivateIp: "string",
      domain: "string",
      instance: "string",
      networkInterface: "string",
    },
    status: {
      allocationId: "string",
      arn: "string",
      associationId: "string",
      networkBorderGroup: "string",
      privateIp: "string",
      publicIp: "string",
      publicIpv4Pool: "string",
    },
  },
  {
    ...{ group, kind: "NATGateway", plural: "natgateways", handler: natGateway },
    ...{ externalName: assigned, recover: byTags("natgateway") },
    spec: {
      allocationId: reference("ec2/EIP", id),
      connectivityType: "string",
      privateIp: "string",
      subnetId: reference("ec2/Subnet"),
    },
    status: { associationId: "string", networkInterfaceId: "string", publicIp: "string" },
  },
  {
    ...{ group, kind: "RouteTable", plural: "routetables", handler: routeTable },
    ...{ externalName: assigned, recover: byTags("route-table") },
    spec: { vpcId },
    status: { ...owner, propagatingVgws: "set" },
  },
  {
    ...{ group, kind: "Route", plural: "routes", handler: route },
    externalName: {
      kind: "derived",
      id: (inputs) => {
        const { routeTableId, destinationCidrBlock, destinationIpv6CidrBlock } = inputs as Partial<RouteInputs>;
        return routeTableId && routeId(routeTableId, destinationCidrBlock ?? destinationIpv6CidrBlock ?? "");
      },
    },
    spec: {
      destinationCidrBlock: "string",
      destinationIpv6CidrBlock: "string",
      egressOnlyGatewayId: "string",
      gatewayId: reference("ec2/InternetGateway"),
      natGatewayId: reference("ec2/NATGateway"),
      networkInterfaceId: "string",
      routeTableId: reference("ec2/RouteTable"),
      transitGatewayId: "string",
      vpcPeeringConnectionId: "string",
    },
    status: { instanceId: "string", instanceOwnerId: "string", origin: "string", state: "string" },
  },
  {
    ...{ group, kind: "RouteTableAssociation", plural: "routetableassociations", handler: routeTableAssociation },
    ...{ externalName: assigned, recover: associationOf },
    spec: {
      gatewayId: reference("ec2/InternetGateway", id),
      routeTableId: reference("ec2/RouteTable"),
      subnetId: reference("ec2/Subnet"),
    },
    status: {},
  },
  {
    ...{ group, kind: "VPCEndpoint", plural: "vpcendpoints", handler: vpcEndpoint },
    ...{ externalName: assigned, recover: byTags("vpc-endpoint") },
    spec: {
      policy: "string",
      privateDnsEnabled: "boolean",
      serviceName: "string",
      vpcEndpointType: "string",
      vpcId,
    },
    status: {
      ...owner,
      dnsEntry: from("dnsEntries", { blocks: { dnsName: "string", hostedZoneId: "string" } }),
      ipAddressType: "string",
      networkInterfaceIds: "set",
      prefixListId: "string",
      requesterManaged: "boolean",
      routeTableIds: "set",
      securityGroupIds: "set",
      state: "string",
      subnetIds: "set",
    },
  },
  {
    ...{ group, kind: "VPCEndpointRouteTableAssociation", plural: "vpcendpointroutetableassociations" },
    handler: vpcEndpointRouteTableAssociation,
    externalName: { kind: "derived", id: joined("/", "vpcEndpointId", "routeTableId") },
    spec: { routeTableId: reference("ec2/RouteTable"), vpcEndpointId: reference("ec2/VPCEndpoint") },
    status: {},
  },
];
