import { crc32 } from "node:zlib";
import {
  DescribeSecurityGroupRulesCommand,
  type IpPermission,
  ModifySecurityGroupRulesCommand,
  type SecurityGroupRule,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { sameText } from "../compare.ts";
import { hasCode } from "../errors.ts";
import { resource } from "../handler.ts";
import { blocksOf, normalBlock, permissionOf, protocolName, type RuleBlock } from "./permissions.ts";
import { authorize, type Direction, findGroup, permissionsOf, revoke } from "./security-group.ts";

export interface SecurityGroupRuleInputs extends Omit<RuleBlock, "securityGroups"> {
  type: Direction;
  securityGroupId: string;
  sourceSecurityGroupId?: string;
}

const blockOf = ({ sourceSecurityGroupId, ...inputs }: Partial<SecurityGroupRuleInputs>): RuleBlock => {
  const own = sourceSecurityGroupId === inputs.securityGroupId && sourceSecurityGroupId !== undefined;
  return normalBlock({
    protocol: inputs.protocol ?? "",
    fromPort: inputs.fromPort ?? 0,
    toPort: inputs.toPort ?? 0,
    ...inputs,
    self: inputs.self || own,
    securityGroups: sourceSecurityGroupId && !own ? [sourceSecurityGroupId] : [],
  });
};

const permission = (inputs: Partial<SecurityGroupRuleInputs>): IpPermission =>
  permissionOf(blockOf(inputs), inputs.securityGroupId as string);

/** Id in the form of Terraform, `sgrule-<crc32 of what makes the rule>`. */
export const securityGroupRuleId = (inputs: SecurityGroupRuleInputs): string =>
  `sgrule-${crc32(JSON.stringify([inputs.securityGroupId, inputs.type, { ...blockOf(inputs), description: "" }]))}`;

const sources = ["cidrBlocks", "ipv6CidrBlocks", "prefixListIds", "securityGroups"] as const;

/** The part of the group's rules that this rule made: every source must be there, with the rule's description or another. */
async function find(aws: Aws, inputs: Partial<SecurityGroupRuleInputs>): Promise<RuleBlock | undefined> {
  const id = inputs.securityGroupId as string;
  const wanted = blockOf(inputs);
  const candidates = blocksOf(permissionsOf(await findGroup(aws, id), inputs.type as Direction), id)
    .map(normalBlock)
    .filter(
      ({ protocol, fromPort, toPort }) =>
        protocol === wanted.protocol && fromPort === wanted.fromPort && toPort === wanted.toPort,
    );
  return candidates.find(
    (block) =>
      (!wanted.self || block.self) &&
      sources.every((kind) => wanted[kind]?.every((value) => block[kind]?.includes(value))),
  );
}

const sourceOf = (rule: SecurityGroupRule) =>
  rule.CidrIpv4 ?? rule.CidrIpv6 ?? rule.PrefixListId ?? rule.ReferencedGroupInfo?.GroupId;

/** The rules that AWS made of this one: one per source, each with an id. */
async function awsRules(aws: Aws, inputs: Partial<SecurityGroupRuleInputs>): Promise<SecurityGroupRule[]> {
  const wanted = blockOf(inputs);
  const values = [...sources.flatMap((kind) => wanted[kind] ?? []), ...(wanted.self ? [inputs.securityGroupId] : [])];
  const filter = { Name: "group-id", Values: [inputs.securityGroupId as string] };
  const { SecurityGroupRules } = await aws.ec2.send(new DescribeSecurityGroupRulesCommand({ Filters: [filter] }));
  return (SecurityGroupRules ?? []).filter(
    (rule) =>
      rule.IsEgress === (inputs.type === "egress") &&
      rule.IpProtocol === wanted.protocol &&
      (wanted.protocol === "-1" || (rule.FromPort === wanted.fromPort && rule.ToPort === wanted.toPort)) &&
      values.includes(sourceOf(rule)),
  );
}

export const securityGroupRule = resource<SecurityGroupRuleInputs>({
  token: "aws:ec2/securityGroupRule:SecurityGroupRule",
  inputs: [
    ...["type", "securityGroupId", "protocol", "fromPort", "toPort", "cidrBlocks", "ipv6CidrBlocks", "prefixListIds"],
    ...["sourceSecurityGroupId", "self", "description"],
  ],
  computed: ["sourceSecurityGroupId"],
  replaceOn: [
    ...["type", "securityGroupId", "protocol", "fromPort", "toPort", "cidrBlocks", "ipv6CidrBlocks", "prefixListIds"],
    ...["sourceSecurityGroupId", "self"],
  ],
  defaults: { self: false },
  compare: { protocol: (a, b) => protocolName(String(a)) === protocolName(String(b)), description: sameText },
  deleteBeforeReplace: true,

  validate(inputs) {
    const named = ["cidrBlocks", "ipv6CidrBlocks", "prefixListIds", "sourceSecurityGroupId"] as const;
    if (named.every((name) => inputs[name] === undefined) && !inputs.self)
      return [{ property: "cidrBlocks", reason: `a rule needs a source: one of ${named.join(", ")} or self` }];
    return [];
  },

  async create(aws, inputs) {
    try {
      await authorize(aws, inputs.securityGroupId, inputs.type, [permission(inputs)]);
    } catch (error) {
      if (!hasCode(error, "InvalidPermission.Duplicate")) throw error;
      throw new Error(
        `security group ${inputs.securityGroupId} already has this ${inputs.type} rule: two resources with the same rule would undo each other. ` +
          `Remove one of them from the program, or the rule from AWS.`,
        { cause: error },
      );
    }
    return securityGroupRuleId(inputs);
  },

  async read(aws, _id, last) {
    const found = await find(aws, last);
    if (!found) return null;
    const { type, securityGroupId, fromPort, toPort, protocol, self } = last;
    const rules = await awsRules(aws, last);
    return {
      ...{ type, securityGroupId, fromPort, toPort, protocol, self: self ?? false },
      ...{ cidrBlocks: last.cidrBlocks, ipv6CidrBlocks: last.ipv6CidrBlocks, prefixListIds: last.prefixListIds },
      sourceSecurityGroupId: last.sourceSecurityGroupId,
      description: found.description || undefined,
      securityGroupRuleId: rules.length === 1 ? rules[0]?.SecurityGroupRuleId : undefined,
    };
  },

  // Only the description can change without a new rule. ModifySecurityGroupRules takes whole rules.
  async update(aws, _id, { old, new: inputs }) {
    const rules = (await awsRules(aws, old)).map((rule) => ({
      SecurityGroupRuleId: rule.SecurityGroupRuleId as string,
      SecurityGroupRule: {
        IpProtocol: rule.IpProtocol,
        FromPort: rule.FromPort,
        ToPort: rule.ToPort,
        CidrIpv4: rule.CidrIpv4,
        CidrIpv6: rule.CidrIpv6,
        PrefixListId: rule.PrefixListId,
        ReferencedGroupId: rule.ReferencedGroupInfo?.GroupId,
        Description: inputs.description ?? "",
      },
    }));
    await aws.ec2.send(
      new ModifySecurityGroupRulesCommand({ GroupId: inputs.securityGroupId, SecurityGroupRules: rules }),
    );
  },

  async delete(aws, _id, last) {
    if (!(await findGroup(aws, last.securityGroupId as string))) return;
    await revoke(aws, last.securityGroupId as string, last.type as Direction, [permission(last)]);
  },

  importId(_aws, importId) {
    const inputs = parseImportId(importId);
    return Promise.resolve({ id: securityGroupRuleId(inputs), properties: { ...inputs } });
  },
});

/** `<group>_<type>_<protocol>_<from>_<to>_<source>[_<source>…]`, as in Terraform. */
function parseImportId(importId: string): SecurityGroupRuleInputs {
  const [securityGroupId, type, protocol, fromPort, toPort, ...named] = importId.split("_");
  if (!securityGroupId || !protocol || (type !== "ingress" && type !== "egress") || named.length === 0)
    throw new Error(
      `import id "${importId}" is not of the form <security group>_<ingress|egress>_<protocol>_<from port>_<to port>_<source>[_<source>…]`,
    );
  const pick = (matches: (source: string) => boolean) => {
    const found = named.filter(matches);
    return found.length > 0 ? found : undefined;
  };
  const source = pick((s) => s.startsWith("sg-"))?.[0];
  const lists = {
    cidrBlocks: pick((s) => s.includes("/") && !s.includes(":")),
    ipv6CidrBlocks: pick((s) => s.includes("/") && s.includes(":")),
    prefixListIds: pick((s) => s.startsWith("pl-")),
  };
  return {
    ...{
      securityGroupId,
      type,
      protocol,
      fromPort: Number(fromPort),
      toPort: Number(toPort),
      self: named.includes("self"),
    },
    ...Object.fromEntries(Object.entries(lists).filter(([, value]) => value)),
    ...(source && { sourceSecurityGroupId: source }),
  };
}
