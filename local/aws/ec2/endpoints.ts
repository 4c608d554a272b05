/** Endpoints of AWS services in a VPC. */
import { crc32 } from "node:zlib";
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { hasCode, orGone } from "../errors.ts";
import { composite } from "../handler.ts";
import { poll } from "../poll.ts";
import { api, arnOf, ec2, list } from "./define.ts";

const modify = (aws: Aws, request: sdk.ModifyVpcEndpointCommandInput) =>
  api(aws).send(new sdk.ModifyVpcEndpointCommand(request));

async function endpoint(aws: Aws, id: string) {
  const { VpcEndpoints } = await api(aws).send(new sdk.DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] }));
  const found = VpcEndpoints?.[0];
  return found?.State?.toLowerCase() === "deleted" ? undefined : found;
}

/** Gateway endpoints have a managed prefix list, named like their service. */
async function prefixList(aws: Aws, service: string): Promise<string | undefined> {
  const filter = { Name: "prefix-list-name", Values: [service] };
  return (await api(aws).send(new sdk.DescribePrefixListsCommand({ Filters: [filter] }))).PrefixLists?.[0]
    ?.PrefixListId;
}

export const vpcEndpoint = ec2({
  token: "aws:ec2/vpcEndpoint:VpcEndpoint",
  crossplane: { kind: "ec2/VPCEndpoint" },
  noun: "VpcEndpoint",
  tag: "vpc-endpoint",
  calls: {
    create: sdk.CreateVpcEndpointCommand,
    describe: sdk.DescribeVpcEndpointsCommand,
    delete: sdk.DeleteVpcEndpointsCommand,
  },
  states: {
    what: "VPC endpoint",
    of: ({ State }) => (State as string | undefined)?.toLowerCase(),
    usable: ["available", "pendingacceptance"],
    pending: ["pending"],
    leaving: [],
    reason: ({ LastError }) => (LastError as { Message?: string } | undefined)?.Message,
  },
  fields: {
    vpcId: { fixed },
    serviceName: { fixed },
    vpcEndpointType: { fixed, default: "Gateway" },
    policy: out("PolicyDocument"),
    routeTableIds: { type: "set", computed, observed: true },
    arn: arnOf("vpc-endpoint"),
    dnsEntries: out(undefined, {
      crd: "dnsEntry",
      type: { blocks: { dnsName: {}, hostedZoneId: {} } },
    }),
    ipAddressType: out(),
    networkInterfaceIds: out(undefined, { type: "set" }),
    ownerId: out(),
    prefixListId: out(),
    privateDnsEnabled: { type: "boolean", fixed, computed },
    requesterManaged: out(undefined, { type: "boolean" }),
    securityGroupIds: out(({ Groups }) => list(Groups).map(({ GroupId }) => GroupId), { type: "set" }),
    state: out(),
    subnetIds: out(undefined, { type: "set" }),
  },
  find: endpoint,
  also: async (aws, _id, { ServiceName, VpcEndpointType }) =>
    VpcEndpointType === "Gateway" ? { PrefixListId: await prefixList(aws, ServiceName as string) } : {},
  settings: [
    {
      fields: ["routeTableIds"],
      settles: true,
      async call(aws, id, { routeTableIds = [] }, { old }) {
        const before = old.routeTableIds ?? [];
        await modify(aws, {
          VpcEndpointId: id,
          AddRouteTableIds: routeTableIds.filter((table) => !before.includes(table)),
          RemoveRouteTableIds: before.filter((table) => !routeTableIds.includes(table)),
        });
      },
    },
  ],
  async delete(aws, id) {
    const { Unsuccessful } = await api(aws).send(new sdk.DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
    const failure = Unsuccessful?.[0]?.Error;
    if (failure && !failure.Code?.endsWith("NotFound")) throw new Error(`${failure.Code}: ${failure.Message}`);
  },
});

/** An endpoint is usable again a while after its subnets have changed. */
async function settled(aws: Aws, id: string): Promise<void> {
  await poll({ what: `VPC endpoint ${id} to be available`, timeout: aws.timeout }, async () => {
    const state = (await endpoint(aws, id))?.State?.toLowerCase();
    return state === "pending" ? undefined : true;
  });
}

const inSubnet = composite("/", "vpcEndpointId", "subnetId");

/** One subnet of an interface endpoint: EC2 makes a network interface in it. */
export const vpcEndpointSubnetAssociation = define({
  token: "aws:ec2/vpcEndpointSubnetAssociation:VpcEndpointSubnetAssociation",
  crossplane: { kind: "ec2/VPCEndpointSubnetAssociation" },
  idOf: inSubnet.idOf,
  fields: {
    subnetId: { fixed },
    vpcEndpointId: { fixed },
  },
  async create(aws, _request, { subnetId = "", vpcEndpointId = "" }) {
    await modify(aws, { VpcEndpointId: vpcEndpointId, AddSubnetIds: [subnetId] });
    await settled(aws, vpcEndpointId);
  },
  async find(aws, id) {
    const { vpcEndpointId: VpcEndpointId, subnetId: SubnetId } = inSubnet.partsOf(id);
    const found = await endpoint(aws, VpcEndpointId);
    return found?.SubnetIds?.includes(SubnetId) ? { VpcEndpointId, SubnetId } : undefined;
  },
  async delete(aws, id) {
    const { vpcEndpointId: VpcEndpointId, subnetId } = inSubnet.partsOf(id);
    await removing(modify(aws, { VpcEndpointId, RemoveSubnetIds: [subnetId] }));
  },
});

/** An endpoint that is being deleted can't be changed any more, and takes everything of it along. */
async function removing(call: Promise<unknown>): Promise<void> {
  try {
    await orGone(call);
  } catch (error) {
    if (!hasCode(error, "InvalidParameter")) throw error;
  }
}

/** One security group of an interface endpoint. Its id is `a-<endpoint><crc32 of the group>`, as Terraform makes it. */
export const vpcEndpointSecurityGroupAssociation = define({
  token: "aws:ec2/securityGroupAssociation:SecurityGroupAssociation",
  crossplane: { kind: "ec2/VPCEndpointSecurityGroupAssociation" },
  idOf: ({ securityGroupId, vpcEndpointId }) =>
    typeof securityGroupId === "string" && typeof vpcEndpointId === "string"
      ? `a-${vpcEndpointId}${crc32(securityGroupId)}`
      : undefined,
  fields: {
    securityGroupId: { fixed },
    vpcEndpointId: { fixed },
  },
  create: (aws, _request, { securityGroupId = "", vpcEndpointId = "" }) =>
    modify(aws, { VpcEndpointId: vpcEndpointId, AddSecurityGroupIds: [securityGroupId] }),
  async find(aws, _id, { securityGroupId, vpcEndpointId }) {
    if (vpcEndpointId === undefined) return undefined;
    const found = await endpoint(aws, vpcEndpointId);
    const isMember = found?.Groups?.some(({ GroupId }) => GroupId === securityGroupId);
    return isMember ? { VpcEndpointId: vpcEndpointId, SecurityGroupId: securityGroupId } : undefined;
  },
  delete: (aws, _id, { securityGroupId = "", vpcEndpointId = "" }) =>
    removing(modify(aws, { VpcEndpointId: vpcEndpointId, RemoveSecurityGroupIds: [securityGroupId] })),
});

const association = composite("/", "vpcEndpointId", "routeTableId");

/** One route table of a gateway endpoint: EC2 keeps a route to the service in it. */
export const vpcEndpointRouteTableAssociation = define({
  token: "aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
  crossplane: { kind: "ec2/VPCEndpointRouteTableAssociation" },
  idOf: association.idOf,
  fields: {
    routeTableId: { fixed },
    vpcEndpointId: { fixed },
  },
  create: (aws, _request, { routeTableId = "", vpcEndpointId }) =>
    modify(aws, { VpcEndpointId: vpcEndpointId, AddRouteTableIds: [routeTableId] }),
  async find(aws, id) {
    const { vpcEndpointId: VpcEndpointId, routeTableId: RouteTableId } = association.partsOf(id);
    const found = await endpoint(aws, VpcEndpointId);
    return found?.RouteTableIds?.includes(RouteTableId) ? { VpcEndpointId, RouteTableId } : undefined;
  },
  async delete(aws, id) {
    const { vpcEndpointId: VpcEndpointId, routeTableId: table } = association.partsOf(id);
    if ((await endpoint(aws, VpcEndpointId))?.RouteTableIds?.includes(table))
      await modify(aws, { VpcEndpointId, RemoveRouteTableIds: [table] });
  },
});
