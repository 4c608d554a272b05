import {
  CreateVpcEndpointCommand,
  DeleteVpcEndpointsCommand,
  DescribePrefixListsCommand,
  DescribeVpcEndpointsCommand,
  ModifyVpcEndpointCommand,
  type VpcEndpoint,
  type VpcEndpointType,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { samePolicy } from "../compare.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { tagsFrom } from "../tags.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  vpcId: string;
  serviceName: string;
  vpcEndpointType?: VpcEndpointType;
  policy?: string;
  privateDnsEnabled?: boolean;
  routeTableIds?: string[];
  subnetIds?: string[];
  securityGroupIds?: string[];
}

async function find(aws: Aws, id: string): Promise<VpcEndpoint | undefined> {
  const found = await orGone(aws.ec2.send(new DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] })));
  const actual = found?.VpcEndpoints?.[0];
  return actual?.State?.toLowerCase() === "deleted" ? undefined : actual;
}

async function available(aws: Aws, id: string): Promise<true | undefined> {
  const actual = await find(aws, id);
  const state = actual?.State?.toLowerCase();
  if (!actual || state === "failed" || state === "rejected")
    throw new Error(`VPC endpoint ${id} is ${state ?? "gone"}: ${actual?.LastError?.Message ?? "no reason given"}`);
  return state === "available" || state === "pendingacceptance" ? true : undefined;
}

const ready = (aws: Aws, id: string) =>
  poll({ what: `VPC endpoint ${id} to become available`, timeout: aws.timeout }, () => available(aws, id));

/** Gateway endpoints have a managed prefix list, named like their service. */
async function prefixList(aws: Aws, service: string): Promise<string | undefined> {
  const filter = { Name: "prefix-list-name", Values: [service] };
  const { PrefixLists } = await aws.ec2.send(new DescribePrefixListsCommand({ Filters: [filter] }));
  return PrefixLists?.[0]?.PrefixListId;
}

const lists = { routeTableIds: "RouteTableIds", subnetIds: "SubnetIds", securityGroupIds: "SecurityGroupIds" } as const;
const listNames = Object.keys(lists) as (keyof typeof lists)[];

/** Members to add to and to remove from each list. */
function listChanges(olds: Inputs, news: Inputs): Record<string, string[]> {
  const changes: Record<string, string[]> = {};
  for (const name of listNames) {
    const [before, after] = [olds[name] ?? [], news[name] ?? []];
    const add = after.filter((member) => !before.includes(member));
    const remove = before.filter((member) => !after.includes(member));
    if (add.length > 0) changes[`Add${lists[name]}`] = add;
    if (remove.length > 0) changes[`Remove${lists[name]}`] = remove;
  }
  return changes;
}

export const vpcEndpoint = resource<Inputs>({
  token: "aws:ec2/vpcEndpoint:VpcEndpoint",
  tagged: true,
  inputs: ["vpcId", "serviceName", "vpcEndpointType", "policy", "privateDnsEnabled", ...listNames],
  computed: ["policy", "privateDnsEnabled", ...listNames],
  replaceOn: ["vpcId", "serviceName", "vpcEndpointType"],
  defaults: { vpcEndpointType: "Gateway" },
  sets: listNames,
  compare: { policy: samePolicy },

  async create(aws, inputs) {
    const { VpcEndpoint } = await aws.ec2.send(
      new CreateVpcEndpointCommand({
        VpcId: inputs.vpcId,
        ServiceName: inputs.serviceName,
        VpcEndpointType: inputs.vpcEndpointType,
        PolicyDocument: inputs.policy,
        PrivateDnsEnabled: inputs.privateDnsEnabled,
        RouteTableIds: inputs.routeTableIds,
        SubnetIds: inputs.subnetIds,
        SecurityGroupIds: inputs.securityGroupIds,
        ...tagSpecifications("vpc-endpoint", inputs.tagsAll),
      }),
    );
    return finishing(VpcEndpoint?.VpcEndpointId, (id) => ready(aws, id));
  },

  ready,

  async read(aws, id) {
    const actual = await find(aws, id);
    if (!actual) return null;
    const gateway = actual.VpcEndpointType === "Gateway";
    return {
      arn: ec2Arn(aws, actual.OwnerId, "vpc-endpoint", id),
      dnsEntries: (actual.DnsEntries ?? []).map(({ DnsName, HostedZoneId }) => ({
        dnsName: DnsName,
        hostedZoneId: HostedZoneId,
      })),
      ipAddressType: actual.IpAddressType,
      networkInterfaceIds: actual.NetworkInterfaceIds,
      ownerId: actual.OwnerId,
      policy: actual.PolicyDocument,
      prefixListId: gateway ? await prefixList(aws, actual.ServiceName ?? "") : undefined,
      privateDnsEnabled: actual.PrivateDnsEnabled,
      requesterManaged: actual.RequesterManaged,
      routeTableIds: actual.RouteTableIds,
      securityGroupIds: (actual.Groups ?? []).map(({ GroupId }) => GroupId),
      serviceName: actual.ServiceName,
      state: actual.State,
      subnetIds: actual.SubnetIds,
      vpcEndpointType: actual.VpcEndpointType,
      vpcId: actual.VpcId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    const lists = listChanges(change.old, change.new);
    const settings = {
      ...(change.has("policy") && (change.new.policy ? { PolicyDocument: change.new.policy } : { ResetPolicy: true })),
      ...(change.has("privateDnsEnabled") && { PrivateDnsEnabled: change.new.privateDnsEnabled }),
    };
    if (Object.keys({ ...lists, ...settings }).length > 0) {
      await aws.ec2.send(new ModifyVpcEndpointCommand({ VpcEndpointId: id, ...lists, ...settings }));
      await ready(aws, id);
    }
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    if (!(await find(aws, id))) return;
    const { Unsuccessful } = await aws.ec2.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
    const failure = Unsuccessful?.[0]?.Error;
    if (failure && !failure.Code?.endsWith("NotFound")) throw new Error(`${failure.Code}: ${failure.Message}`);
    await poll({ what: `VPC endpoint ${id} to be deleted`, timeout: aws.timeout }, async () =>
      (await find(aws, id)) ? undefined : true,
    );
  },
});
