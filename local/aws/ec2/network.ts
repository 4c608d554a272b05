/** VPC, subnets and their ways out. */
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { computed, fixed, type Item, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { hasCode, orGone } from "../errors.ts";
import { api, arnOf, ec2, ec2Tags, list } from "./define.ts";
import { deleteSubnet, deleteVpc } from "./guardduty.ts";

/** What AWS creates with every VPC. */
async function defaultsOf(aws: Aws, id: string): Promise<Item> {
  const vpc = { Name: "vpc-id", Values: [id] };
  const [tables, groups, acls] = await Promise.all([
    api(aws).send(
      new sdk.DescribeRouteTablesCommand({ Filters: [vpc, { Name: "association.main", Values: ["true"] }] }),
    ),
    api(aws).send(
      new sdk.DescribeSecurityGroupsCommand({ Filters: [vpc, { Name: "group-name", Values: ["default"] }] }),
    ),
    api(aws).send(new sdk.DescribeNetworkAclsCommand({ Filters: [vpc, { Name: "default", Values: ["true"] }] })),
  ]);
  return {
    MainRouteTableId: tables.RouteTables?.[0]?.RouteTableId,
    DefaultSecurityGroupId: groups.SecurityGroups?.[0]?.GroupId,
    DefaultNetworkAclId: acls.NetworkAcls?.[0]?.NetworkAclId,
  };
}

const vpcAttributes = ["enableDnsSupport", "enableDnsHostnames", "enableNetworkAddressUsageMetrics"] as const;

async function attributesOf(aws: Aws, id: string): Promise<Item> {
  const values = vpcAttributes.map(async (Attribute: sdk.VpcAttributeName) => {
    const answer = await api(aws).send(new sdk.DescribeVpcAttributeCommand({ VpcId: id, Attribute }));
    const name = `E${Attribute.slice(1)}` as "EnableDnsSupport";
    return [name, answer[name]?.Value ?? false] as const;
  });
  return Object.fromEntries(await Promise.all(values));
}

export const vpc = ec2({
  token: "aws:ec2/vpc:Vpc",
  crossplane: { kind: "ec2/VPC" },
  noun: "Vpc",
  tag: "vpc",
  calls: { create: sdk.CreateVpcCommand, describe: sdk.DescribeVpcsCommand, delete: sdk.DeleteVpcCommand },
  attributes: { call: sdk.ModifyVpcAttributeCommand, names: vpcAttributes },
  also: async (aws, id) => ({ ...(await attributesOf(aws, id)), ...(await defaultsOf(aws, id)) }),
  fields: {
    cidrBlock: { fixed, computed },
    instanceTenancy: { fixed, default: "default" },
    enableDnsSupport: { type: "boolean", default: true },
    enableDnsHostnames: { type: "boolean", computed },
    enableNetworkAddressUsageMetrics: { type: "boolean", computed },
    arn: arnOf("vpc"),
    ownerId: out(),
    dhcpOptionsId: out(),
    mainRouteTableId: out(),
    defaultRouteTableId: out("MainRouteTableId"),
    defaultSecurityGroupId: out(),
    defaultNetworkAclId: out(),
  },
  delete: deleteVpc,
});

/** A further block of a VPC. */
export const vpcIpv4CidrBlockAssociation = define({
  token: "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
  crossplane: { kind: "ec2/VPCIPv4CidrBlockAssociation" },
  states: {
    what: "block",
    of: ({ CidrBlockState }) => (CidrBlockState as { State?: string } | undefined)?.State,
    usable: ["associated"],
    pending: ["associating"],
    leaving: [],
    reason: ({ CidrBlockState }) => (CidrBlockState as { StatusMessage?: string } | undefined)?.StatusMessage,
  },
  fields: {
    vpcId: { fixed },
    cidrBlock: { fixed },
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.AssociateVpcCidrBlockCommand(request as unknown as sdk.AssociateVpcCidrBlockRequest)))
      .CidrBlockAssociation?.AssociationId,
  async find(aws, id) {
    const filter = { Name: "cidr-block-association.association-id", Values: [id] };
    const { Vpcs = [] } = await api(aws).send(new sdk.DescribeVpcsCommand({ Filters: [filter] }));
    const found = Vpcs.flatMap(({ VpcId, CidrBlockAssociationSet = [] }) =>
      CidrBlockAssociationSet.map((each) => ({ ...each, VpcId })),
    ).find(({ AssociationId }) => AssociationId === id);
    return found?.CidrBlockState?.State === "disassociated" ? undefined : found;
  },
  delete: (aws, id) => api(aws).send(new sdk.DisassociateVpcCidrBlockCommand({ AssociationId: id })),
});

export const subnet = ec2({
  token: "aws:ec2/subnet:Subnet",
  crossplane: { kind: "ec2/Subnet", asynchronous: true },
  noun: "Subnet",
  tag: "subnet",
  calls: { create: sdk.CreateSubnetCommand, describe: sdk.DescribeSubnetsCommand, delete: sdk.DeleteSubnetCommand },
  attributes: { call: sdk.ModifySubnetAttributeCommand, names: ["mapPublicIpOnLaunch"] },
  fields: {
    vpcId: { fixed },
    cidrBlock: { fixed },
    availabilityZone: { fixed, computed },
    availabilityZoneId: { fixed, computed },
    mapPublicIpOnLaunch: { type: "boolean", default: false },
    arn: out("SubnetArn"),
    ownerId: out(),
  },
  delete: (aws, id, { vpcId = "" }) => deleteSubnet(aws, id, vpcId),
});

async function detach(aws: Aws, id: string, vpcId: string): Promise<void> {
  try {
    await orGone(api(aws).send(new sdk.DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId: vpcId })));
  } catch (error) {
    if (!hasCode(error, "Gateway.NotAttached")) throw error;
  }
}

export const internetGateway = ec2({
  token: "aws:ec2/internetGateway:InternetGateway",
  crossplane: { kind: "ec2/InternetGateway" },
  noun: "InternetGateway",
  tag: "internet-gateway",
  calls: {
    create: sdk.CreateInternetGatewayCommand,
    describe: sdk.DescribeInternetGatewaysCommand,
    delete: sdk.DeleteInternetGatewayCommand,
  },
  fields: {
    vpcId: {
      api: null,
      computed,
      get: ({ Attachments }) => list(Attachments)[0]?.["VpcId"],
    },
    arn: arnOf("internet-gateway"),
    ownerId: out(),
  },
  settings: [
    {
      fields: ["vpcId"],
      initially: ({ vpcId }) => vpcId !== undefined,
      async call(aws, id, { vpcId }, { old }) {
        if (old.vpcId) await detach(aws, id, old.vpcId);
        if (vpcId) await api(aws).send(new sdk.AttachInternetGatewayCommand({ InternetGatewayId: id, VpcId: vpcId }));
      },
    },
  ],
  async delete(aws, id) {
    const found = await api(aws).send(new sdk.DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] }));
    for (const { VpcId } of found.InternetGateways?.[0]?.Attachments ?? []) if (VpcId) await detach(aws, id, VpcId);
    await api(aws).send(new sdk.DeleteInternetGatewayCommand({ InternetGatewayId: id }));
  },
});

/** Terraform treats an empty text as unset (terraform-plugin-sdk, helper/schema, GetOk). */
const unlessEmpty = (text: string): string | undefined => text || undefined;

async function address(aws: Aws, id: string) {
  return (await api(aws).send(new sdk.DescribeAddressesCommand({ AllocationIds: [id] }))).Addresses?.[0];
}

export const eip = define({
  token: "aws:ec2/eip:Eip",
  crossplane: { kind: "ec2/EIP", asynchronous: true },
  tags: ec2Tags("elastic-ip"),
  fields: {
    domain: { fixed, computed },
    allocationId: out(),
    arn: arnOf("elastic-ip"),
    associationId: out(),
    instance: out("InstanceId"),
    networkBorderGroup: out(),
    networkInterface: { computed, api: null, get: ({ NetworkInterfaceId }) => NetworkInterfaceId },
    privateIp: out("PrivateIpAddress"),
    publicIp: out(),
    publicIpv4Pool: out(),
  },
  create: async (aws, request) =>
    (await api(aws).send(new sdk.AllocateAddressCommand({ Domain: "vpc", ...request }))).AllocationId,
  find: address,
  also: async (aws) => ({ OwnerId: await aws.accountId() }),
  settings: [
    {
      fields: ["networkInterface"],
      initially: ({ networkInterface }) => Boolean(networkInterface),
      async call(aws, AllocationId, { networkInterface: NetworkInterfaceId }) {
        const association = (await address(aws, AllocationId))?.AssociationId;
        if (association)
          await orGone(api(aws).send(new sdk.DisassociateAddressCommand({ AssociationId: association })));
        if (NetworkInterfaceId)
          await api(aws).send(new sdk.AssociateAddressCommand({ AllocationId, NetworkInterfaceId }));
      },
    },
  ],
  async delete(aws, id) {
    const association = (await address(aws, id))?.AssociationId;
    if (association) await orGone(api(aws).send(new sdk.DisassociateAddressCommand({ AssociationId: association })));
    await api(aws).send(new sdk.ReleaseAddressCommand({ AllocationId: id }));
  },
});

const primary = ({ NatGatewayAddresses }: Item): sdk.NatGatewayAddress => {
  const all = list(NatGatewayAddresses) as sdk.NatGatewayAddress[];
  return all.find(({ IsPrimary }) => IsPrimary) ?? all[0] ?? {};
};

export const natGateway = ec2({
  token: "aws:ec2/natGateway:NatGateway",
  crossplane: { kind: "ec2/NATGateway" },
  noun: "NatGateway",
  tag: "natgateway",
  calls: {
    create: sdk.CreateNatGatewayCommand,
    describe: sdk.DescribeNatGatewaysCommand,
    delete: sdk.DeleteNatGatewayCommand,
  },
  states: {
    what: "NAT gateway",
    of: ({ State }) => State as string,
    usable: ["available"],
    pending: ["pending"],
    // Terraform reads one that failed like any other (hashicorp/terraform#8687).
    leaving: ["deleting"],
    reason({ FailureCode: code, FailureMessage: message }) {
      return code === undefined ? undefined : `${code as string}: ${message as string}`;
    },
  },
  fields: {
    subnetId: { fixed },
    allocationId: {
      fixed,
      // ministack names no addresses: then the last known one stands.
      get: (item, { last }) => primary(item).AllocationId ?? last["allocationId"],
    },
    connectivityType: { fixed, default: "public" },
    vpcId: { fixed, computed, put: unlessEmpty },
    associationId: out((item) => primary(item).AssociationId),
    networkInterfaceId: out((item) => primary(item).NetworkInterfaceId),
    privateIp: out((item) => primary(item).PrivateIp),
    publicIp: out((item) => primary(item).PublicIp),
  },
  // A deleted NAT gateway is still described for about an hour.
  async find(aws, id) {
    const { NatGateways } = await api(aws).send(new sdk.DescribeNatGatewaysCommand({ NatGatewayIds: [id] }));
    const found = NatGateways?.[0];
    return found?.State === "deleted" ? undefined : found;
  },
});
