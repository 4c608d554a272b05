import {
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  DescribeSecurityGroupRulesCommand,
  ModifySecurityGroupRulesCommand,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { orGone } from "../errors.ts";
import { type Handler, resource, type Tagged } from "../handler.ts";
import { tagsFrom } from "../tags.ts";
import { permissionOf, protocolName, type RuleBlock } from "./permissions.ts";
import type { Direction } from "./security-group.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

interface Inputs extends Tagged {
  securityGroupId: string;
  ipProtocol: string;
  fromPort?: number;
  toPort?: number;
  cidrIpv4?: string;
  cidrIpv6?: string;
  prefixListId?: string;
  referencedSecurityGroupId?: string;
  description?: string;
}

const sourceNames = ["cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"] as const;

const blockOf = (inputs: Inputs): RuleBlock => ({
  protocol: inputs.ipProtocol,
  fromPort: inputs.fromPort ?? -1,
  toPort: inputs.toPort ?? -1,
  ...(inputs.cidrIpv4 && { cidrBlocks: [inputs.cidrIpv4] }),
  ...(inputs.cidrIpv6 && { ipv6CidrBlocks: [inputs.cidrIpv6] }),
  ...(inputs.prefixListId && { prefixListIds: [inputs.prefixListId] }),
  ...(inputs.referencedSecurityGroupId && { securityGroups: [inputs.referencedSecurityGroupId] }),
  ...(inputs.description && { description: inputs.description }),
});

/** The rule as ModifySecurityGroupRules takes it: the whole rule, not the change. */
const modified = (inputs: Inputs) => ({
  IpProtocol: protocolName(inputs.ipProtocol),
  FromPort: inputs.fromPort,
  ToPort: inputs.toPort,
  CidrIpv4: inputs.cidrIpv4,
  CidrIpv6: inputs.cidrIpv6,
  PrefixListId: inputs.prefixListId,
  ReferencedGroupId: inputs.referencedSecurityGroupId,
  Description: inputs.description,
});

async function create(aws: Aws, direction: Direction, inputs: Inputs): Promise<string> {
  const input = {
    GroupId: inputs.securityGroupId,
    IpPermissions: [permissionOf(blockOf(inputs), inputs.securityGroupId)],
    ...tagSpecifications("security-group-rule", inputs.tagsAll),
  };
  const { SecurityGroupRules } =
    direction === "ingress"
      ? await aws.ec2.send(new AuthorizeSecurityGroupIngressCommand(input))
      : await aws.ec2.send(new AuthorizeSecurityGroupEgressCommand(input));
  const id = SecurityGroupRules?.[0]?.SecurityGroupRuleId;
  if (!id) throw new Error(`AWS returned no id for the new rule of ${inputs.securityGroupId}`);
  return id;
}

async function find(aws: Aws, id: string) {
  const found = await orGone(aws.ec2.send(new DescribeSecurityGroupRulesCommand({ SecurityGroupRuleIds: [id] })));
  return found?.SecurityGroupRules?.[0];
}

/** One rule with one source: the modern form, which AWS knows by an id of its own. */
const singleRule = (token: string, direction: Direction): Handler =>
  resource<Inputs>({
    token,
    tagged: true,
    inputs: ["securityGroupId", "ipProtocol", "fromPort", "toPort", "description", ...sourceNames],
    replaceOn: ["securityGroupId"],
    compare: { ipProtocol: (a, b) => protocolName(String(a)) === protocolName(String(b)) },

    validate(inputs) {
      const set = sourceNames.filter((name) => inputs[name] !== undefined);
      if (set.length === 1) return [];
      const got = set.length === 0 ? "none" : set.join(" and ");
      return [{ property: set[1] ?? "cidrIpv4", reason: `set exactly one of ${sourceNames.join(", ")}; got ${got}` }];
    },

    create: (aws, inputs) => create(aws, direction, inputs),

    async read(aws, id) {
      const actual = await find(aws, id);
      if (!actual) return null;
      const all = actual.IpProtocol === "-1";
      return {
        arn: ec2Arn(aws, actual.GroupOwnerId, "security-group-rule", id),
        cidrIpv4: actual.CidrIpv4,
        cidrIpv6: actual.CidrIpv6,
        description: actual.Description || undefined,
        fromPort: all ? undefined : actual.FromPort,
        ipProtocol: actual.IpProtocol,
        prefixListId: actual.PrefixListId,
        referencedSecurityGroupId: actual.ReferencedGroupInfo?.GroupId,
        securityGroupId: actual.GroupId,
        securityGroupRuleId: id,
        tagsAll: tagsFrom(actual.Tags),
        toPort: all ? undefined : actual.ToPort,
      };
    },

    async update(aws, id, change) {
      if (change.has("ipProtocol", "fromPort", "toPort", "description", ...sourceNames))
        await aws.ec2.send(
          new ModifySecurityGroupRulesCommand({
            GroupId: change.new.securityGroupId,
            SecurityGroupRules: [{ SecurityGroupRuleId: id, SecurityGroupRule: modified(change.new) }],
          }),
        );
      await syncEc2Tags(aws, id, change);
    },

    async delete(aws, id, last) {
      const input = { GroupId: last.securityGroupId as string, SecurityGroupRuleIds: [id] };
      await orGone(
        direction === "ingress"
          ? aws.ec2.send(new RevokeSecurityGroupIngressCommand(input))
          : aws.ec2.send(new RevokeSecurityGroupEgressCommand(input)),
      );
    },
  });

export const securityGroupIngressRule = singleRule(
  "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
  "ingress",
);
export const securityGroupEgressRule = singleRule("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "egress");
