/** The default security group of a VPC, and rules of groups that AWS makes. */
import * as sdk from "@aws-sdk/client-ec2";
import type { Aws } from "../connection.ts";
import { type Field, fixed, type Item, out } from "../define/fields.ts";
import { define } from "../define/resource.ts";
import { api, arnOf, ec2Tags } from "./define.ts";

async function group(aws: Aws, id: string) {
  return (await api(aws).send(new sdk.DescribeSecurityGroupsCommand({ GroupIds: [id] }))).SecurityGroups?.[0];
}

/** Takes all rules away. */
async function clear(aws: Aws, id: string): Promise<void> {
  const { IpPermissions = [], IpPermissionsEgress = [] } = (await group(aws, id)) ?? {};
  if (IpPermissions.length > 0)
    await api(aws).send(new sdk.RevokeSecurityGroupIngressCommand({ GroupId: id, IpPermissions }));
  if (IpPermissionsEgress.length > 0)
    await api(aws).send(new sdk.RevokeSecurityGroupEgressCommand({ GroupId: id, IpPermissions: IpPermissionsEgress }));
}

/** Rules as the schema has them. They can be seen here (somebody else added them), and taken away, but not be set. */
const rules = (name: string): Field => ({
  type: "set",
  api: null,
  get: (item) =>
    ((item[name] ?? []) as sdk.IpPermission[]).map((rule) => ({
      protocol: rule.IpProtocol,
      fromPort: rule.FromPort ?? 0,
      toPort: rule.ToPort ?? 0,
      cidrBlocks: rule.IpRanges?.map(({ CidrIp }) => CidrIp),
      ipv6CidrBlocks: rule.Ipv6Ranges?.map(({ CidrIpv6 }) => CidrIpv6),
      prefixListIds: rule.PrefixListIds?.map(({ PrefixListId }) => PrefixListId),
      securityGroups: rule.UserIdGroupPairs?.map(({ GroupId }) => GroupId),
    })),
});

/** The group that AWS makes with a VPC: adopted, emptied of its rules, never deleted (as in Terraform). */
export const defaultSecurityGroup = define({
  token: "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
  crossplane: { kind: "ec2/DefaultSecurityGroup" },
  tags: ec2Tags("security-group"),
  fields: {
    vpcId: { fixed },
    ingress: rules("IpPermissions"),
    egress: rules("IpPermissionsEgress"),
    arn: arnOf("security-group"),
    description: out(),
    name: out("GroupName"),
    ownerId: out(),
  },
  async create(aws, _request, { vpcId = "", tagsAll = {} }) {
    const filters = { "group-name": ["default"], "vpc-id": [vpcId] };
    const Filters = Object.entries(filters).map(([Name, Values]) => ({ Name, Values }));
    const { SecurityGroups } = await api(aws).send(new sdk.DescribeSecurityGroupsCommand({ Filters }));
    const id = SecurityGroups?.[0]?.GroupId;
    if (!id) throw new Error(`VPC ${vpcId} has no default security group`);
    if (Object.keys(tagsAll).length > 0) await ec2Tags("security-group").set(aws, id, tagsAll);
    return id;
  },
  find: group,
  settings: [{ fields: ["ingress", "egress"], call: clear, initially: () => true }],
  delete: () => Promise.resolve(), // EC2 deletes it with its VPC
});

const protocolNumbers: Record<string, string> = { "6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", all: "-1" };

/** Protocol names as EC2 returns them. */
const protocolName = (protocol: string): string => protocolNumbers[protocol.toLowerCase()] ?? protocol.toLowerCase();

/** AWS answers -1 for all protocols. */
const port = (name: string) =>
  ({
    type: "number",
    get: ({ IpProtocol, [name]: value }: Item) => (IpProtocol === "-1" ? undefined : value),
  }) as const;

/** One rule with one source, which AWS knows by an id of its own. */
export const securityGroupIngressRule = define({
  token: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
  crossplane: { kind: "ec2/SecurityGroupIngressRule" },
  tags: ec2Tags("security-group-rule"),
  fields: {
    securityGroupId: { fixed, api: "GroupId" },
    ipProtocol: { required: true, same: (a, b) => protocolName(String(a)) === protocolName(String(b)) },
    fromPort: port("FromPort"),
    toPort: port("ToPort"),
    cidrIpv4: {},
    description: {},
    arn: arnOf("security-group-rule"),
    securityGroupRuleId: out(),
  },
  validate: ({ cidrIpv4 }) =>
    cidrIpv4 === undefined ? [{ property: "cidrIpv4", reason: "set the rule's source" }] : [],
  async create(aws, request, { securityGroupId, ipProtocol = "", fromPort, toPort, cidrIpv4, description }) {
    const IpProtocol = protocolName(ipProtocol);
    const { SecurityGroupRules } = await api(aws).send(
      new sdk.AuthorizeSecurityGroupIngressCommand({
        GroupId: securityGroupId,
        IpPermissions: [
          {
            IpProtocol,
            ...(IpProtocol !== "-1" && { FromPort: fromPort ?? -1, ToPort: toPort ?? -1 }),
            IpRanges: [{ CidrIp: cidrIpv4, ...(description && { Description: description }) }],
          },
        ],
        TagSpecifications: request["TagSpecifications"] as never,
      }),
    );
    return SecurityGroupRules?.[0]?.SecurityGroupRuleId;
  },
  async find(aws, id) {
    const query = new sdk.DescribeSecurityGroupRulesCommand({ SecurityGroupRuleIds: [id] });
    const found = (await api(aws).send(query)).SecurityGroupRules?.[0];
    return found && { ...found, OwnerId: found.GroupOwnerId };
  },
  settings: [
    {
      fields: ["ipProtocol", "fromPort", "toPort", "cidrIpv4", "description"],
      // The whole rule, not the change.
      call: (aws, id, { securityGroupId, ipProtocol = "", fromPort, toPort, cidrIpv4, description }) => {
        const rule = { FromPort: fromPort, ToPort: toPort, CidrIpv4: cidrIpv4, Description: description };
        const SecurityGroupRule = { ...rule, IpProtocol: protocolName(ipProtocol) };
        const SecurityGroupRules = [{ SecurityGroupRuleId: id, SecurityGroupRule }];
        return api(aws).send(new sdk.ModifySecurityGroupRulesCommand({ GroupId: securityGroupId, SecurityGroupRules }));
      },
    },
  ],
  delete: (aws, id, { securityGroupId }) =>
    api(aws).send(new sdk.RevokeSecurityGroupIngressCommand({ GroupId: securityGroupId, SecurityGroupRuleIds: [id] })),
});
