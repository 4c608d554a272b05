/** Endpoints of AWS services in a VPC. */
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { computed, fixed, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { composite } from "../handler.ts";
import { api, arnOf, ec2, list } from "./define.ts";

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
    privateDnsEnabled: out(undefined, { type: "boolean" }),
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
        await api(aws).send(
          new sdk.ModifyVpcEndpointCommand({
            VpcEndpointId: id,
            AddRouteTableIds: routeTableIds.filter((table) => !before.includes(table)),
            RemoveRouteTableIds: before.filter((table) => !routeTableIds.includes(table)),
          }),
        );
      },
    },
  ],
  async delete(aws, id) {
    const { Unsuccessful } = await api(aws).send(new sdk.DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
    const failure = Unsuccessful?.[0]?.Error;
    if (failure && !failure.Code?.endsWith("NotFound")) throw new Error(`${failure.Code}: ${failure.Message}`);
  },
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
    api(aws).send(new sdk.ModifyVpcEndpointCommand({ VpcEndpointId: vpcEndpointId, AddRouteTableIds: [routeTableId] })),
  async find(aws, id) {
    const { vpcEndpointId: VpcEndpointId, routeTableId: RouteTableId } = association.partsOf(id);
    const found = await endpoint(aws, VpcEndpointId);
    return found?.RouteTableIds?.includes(RouteTableId) ? { VpcEndpointId, RouteTableId } : undefined;
  },
  async delete(aws, id) {
    const { vpcEndpointId: VpcEndpointId, routeTableId: table } = association.partsOf(id);
    if ((await endpoint(aws, VpcEndpointId))?.RouteTableIds?.includes(table))
      await api(aws).send(new sdk.ModifyVpcEndpointCommand({ VpcEndpointId, RemoveRouteTableIds: [table] }));
  },
});
