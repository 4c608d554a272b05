import {
  CreateVpcCommand,
  DeleteVpcCommand,
  DescribeNetworkAclsCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcsCommand,
  ModifyVpcAttributeCommand,
  type Tenancy,
  type VpcAttributeName,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { finishing, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  cidrBlock: string;
  instanceTenancy?: Tenancy;
  enableDnsSupport?: boolean;
  enableDnsHostnames?: boolean;
  enableNetworkAddressUsageMetrics?: boolean;
}

const attributes = {
  enableDnsSupport: "EnableDnsSupport",
  enableDnsHostnames: "EnableDnsHostnames",
  enableNetworkAddressUsageMetrics: "EnableNetworkAddressUsageMetrics",
} as const;
type Attribute = keyof typeof attributes;
const attributeNames = Object.keys(attributes) as Attribute[];

// One attribute a call: the API takes no more.
async function setAttribute(aws: Aws, id: string, name: Attribute, value: boolean): Promise<void> {
  await aws.ec2.send(new ModifyVpcAttributeCommand({ VpcId: id, [attributes[name]]: { Value: value } }));
}

async function attribute(aws: Aws, id: string, name: Attribute): Promise<boolean> {
  const result = await aws.ec2.send(
    new DescribeVpcAttributeCommand({ VpcId: id, Attribute: name satisfies VpcAttributeName }),
  );
  return result[attributes[name]]?.Value ?? false;
}

/** What AWS creates with every VPC. */
async function defaults(aws: Aws, id: string) {
  const vpc = { Name: "vpc-id", Values: [id] };
  const [tables, groups, acls] = await Promise.all([
    aws.ec2.send(new DescribeRouteTablesCommand({ Filters: [vpc, { Name: "association.main", Values: ["true"] }] })),
    aws.ec2.send(new DescribeSecurityGroupsCommand({ Filters: [vpc, { Name: "group-name", Values: ["default"] }] })),
    aws.ec2.send(new DescribeNetworkAclsCommand({ Filters: [vpc, { Name: "default", Values: ["true"] }] })),
  ]);
  const mainRouteTableId = tables.RouteTables?.[0]?.RouteTableId;
  return {
    mainRouteTableId,
    defaultRouteTableId: mainRouteTableId,
    defaultSecurityGroupId: groups.SecurityGroups?.[0]?.GroupId,
    defaultNetworkAclId: acls.NetworkAcls?.[0]?.NetworkAclId,
  };
}

export const vpc = resource<Inputs>({
  token: "aws:ec2/vpc:Vpc",
  tagged: true,
  inputs: [
    "cidrBlock",
    "instanceTenancy",
    "enableDnsSupport",
    "enableDnsHostnames",
    "enableNetworkAddressUsageMetrics",
  ],
  computed: ["cidrBlock", "enableDnsHostnames", "enableNetworkAddressUsageMetrics"],
  replaceOn: ["cidrBlock", "instanceTenancy"],
  defaults: { instanceTenancy: "default", enableDnsSupport: true },

  async create(aws, inputs) {
    const { Vpc } = await aws.ec2.send(
      new CreateVpcCommand({
        CidrBlock: inputs.cidrBlock,
        InstanceTenancy: inputs.instanceTenancy,
        ...tagSpecifications("vpc", inputs.tagsAll),
      }),
    );
    return finishing(Vpc?.VpcId, async (id) => {
      for (const name of attributeNames)
        if (inputs[name] !== undefined) await setAttribute(aws, id, name, inputs[name]);
    });
  },

  async read(aws, id) {
    const found = await orGone(aws.ec2.send(new DescribeVpcsCommand({ VpcIds: [id] })));
    const actual = found?.Vpcs?.[0];
    if (!actual) return null;
    const values = await Promise.all(
      attributeNames.map(async (name) => [name, await attribute(aws, id, name)] as const),
    );
    return {
      ...Object.fromEntries(values),
      ...(await defaults(aws, id)),
      arn: ec2Arn(aws, actual.OwnerId, "vpc", id),
      cidrBlock: actual.CidrBlock,
      dhcpOptionsId: actual.DhcpOptionsId,
      instanceTenancy: actual.InstanceTenancy,
      ownerId: actual.OwnerId,
      tagsAll: tagsFrom(actual.Tags),
    };
  },

  async update(aws, id, change) {
    for (const name of attributeNames) {
      const value = change.new[name];
      if (value !== undefined && change.has(name)) await setAttribute(aws, id, name, value);
    }
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id) {
    await orGone(aws.ec2.send(new DeleteVpcCommand({ VpcId: id })));
  },
});
