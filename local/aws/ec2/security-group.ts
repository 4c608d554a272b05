import { isDeepStrictEqual } from "node:util";
import {
  AuthorizeSecurityGroupEgressCommand,
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  type IpPermission,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroup,
} from "@aws-sdk/client-ec2";
import type { Aws } from "../clients.ts";
import { sameSet } from "../compare.ts";
import { hasCode, orGone } from "../errors.ts";
import { finishing, type Properties, resource, type Tagged } from "../handler.ts";
import { poll } from "../poll.ts";
import { tagsFrom } from "../tags.ts";
import { blocksOf, normalBlock, permissionOf, type RuleBlock, ruleBlockNames } from "./permissions.ts";
import { ec2Arn, syncEc2Tags, tagSpecifications } from "./tags.ts";

export interface SecurityGroupInputs extends Tagged {
  name: string;
  description: string;
  vpcId?: string;
  ingress?: RuleBlock[];
  egress?: RuleBlock[];
  revokeRulesOnDelete?: boolean;
}

export type Direction = "ingress" | "egress";

export const ruleInputs = (["ingress", "egress"] as const).flatMap((direction) =>
  ruleBlockNames.map((name) => `${direction}.${name}`),
);

/** Equality of two lists of rule blocks. */
export const sameRules = (a: unknown, b: unknown): boolean =>
  sameSet(((a ?? []) as RuleBlock[]).map(normalBlock), ((b ?? []) as RuleBlock[]).map(normalBlock));

export async function authorize(
  aws: Aws,
  id: string,
  direction: Direction,
  permissions: IpPermission[],
): Promise<void> {
  if (permissions.length === 0) return;
  const input = { GroupId: id, IpPermissions: permissions };
  if (direction === "ingress") await aws.ec2.send(new AuthorizeSecurityGroupIngressCommand(input));
  else await aws.ec2.send(new AuthorizeSecurityGroupEgressCommand(input));
}

export async function revoke(aws: Aws, id: string, direction: Direction, permissions: IpPermission[]): Promise<void> {
  if (permissions.length === 0) return;
  const input = { GroupId: id, IpPermissions: permissions };
  if (direction === "ingress") await orGone(aws.ec2.send(new RevokeSecurityGroupIngressCommand(input)));
  else await orGone(aws.ec2.send(new RevokeSecurityGroupEgressCommand(input)));
}

export async function findGroup(aws: Aws, id: string): Promise<SecurityGroup | undefined> {
  const found = await orGone(aws.ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [id] })));
  return found?.SecurityGroups?.[0];
}

export const permissionsOf = (group: SecurityGroup | undefined, direction: Direction): IpPermission[] =>
  (direction === "ingress" ? group?.IpPermissions : group?.IpPermissionsEgress) ?? [];

/** Gives the group exactly these rules in one direction; what stays is not touched. */
export async function setRules(aws: Aws, id: string, direction: Direction, wanted: RuleBlock[]): Promise<void> {
  const actual = blocksOf(permissionsOf(await findGroup(aws, id), direction), id).map(normalBlock);
  const target = wanted.map(normalBlock);
  const missing = (block: RuleBlock, among: RuleBlock[]) => !among.some((other) => isDeepStrictEqual(block, other));
  const permission = (block: RuleBlock) => permissionOf(block, id);
  await revoke(aws, id, direction, actual.filter((block) => missing(block, target)).map(permission));
  await authorize(aws, id, direction, target.filter((block) => missing(block, actual)).map(permission));
}

export function groupProperties(aws: Aws, id: string, actual: SecurityGroup): Properties {
  return {
    arn: ec2Arn(aws, actual.OwnerId, "security-group", id),
    description: actual.Description,
    egress: blocksOf(permissionsOf(actual, "egress"), id),
    ingress: blocksOf(permissionsOf(actual, "ingress"), id),
    name: actual.GroupName,
    ownerId: actual.OwnerId,
    vpcId: actual.VpcId,
    tagsAll: tagsFrom(actual.Tags),
  };
}

/** Network interfaces that AWS is still removing keep a group alive for a while. */
async function deleteGroup(aws: Aws, id: string): Promise<true | undefined> {
  try {
    await orGone(aws.ec2.send(new DeleteSecurityGroupCommand({ GroupId: id })));
    return true;
  } catch (error) {
    if (hasCode(error, "DependencyViolation", "InvalidGroup.InUse")) return undefined;
    throw error;
  }
}

/** As in Terraform: how long a deletion waits for other users of the group. */
const deleteTimeout = 15 * 60_000;

export const securityGroup = resource<SecurityGroupInputs>({
  token: "aws:ec2/securityGroup:SecurityGroup",
  tagged: true,
  inputs: ["name", "description", "vpcId", "revokeRulesOnDelete", ...ruleInputs],
  computed: ["vpcId", "ingress", "egress"],
  replaceOn: ["name", "description", "vpcId"],
  defaults: { description: "Managed by Pulumi", revokeRulesOnDelete: false },
  autoName: { property: "name", maxLength: 255 },
  compare: { ingress: sameRules, egress: sameRules },
  unread: ["revokeRulesOnDelete"],

  async create(aws, inputs) {
    const { GroupId } = await aws.ec2.send(
      new CreateSecurityGroupCommand({
        GroupName: inputs.name,
        Description: inputs.description,
        VpcId: inputs.vpcId,
        ...tagSpecifications("security-group", inputs.tagsAll),
      }),
    );
    return finishing(GroupId, async (id) => {
      // AWS adds an egress rule that allows everything; Terraform removes it, so that rules are those of the program only.
      await setRules(aws, id, "egress", inputs.egress ?? []);
      await setRules(aws, id, "ingress", inputs.ingress ?? []);
    });
  },

  async read(aws, id) {
    const actual = await findGroup(aws, id);
    return actual ? groupProperties(aws, id, actual) : null;
  },

  async update(aws, id, change) {
    if (change.has("ingress")) await setRules(aws, id, "ingress", change.new.ingress ?? []);
    if (change.has("egress")) await setRules(aws, id, "egress", change.new.egress ?? []);
    await syncEc2Tags(aws, id, change);
  },

  async delete(aws, id, last) {
    if (last.revokeRulesOnDelete) {
      const actual = await findGroup(aws, id);
      await revoke(aws, id, "ingress", permissionsOf(actual, "ingress"));
      await revoke(aws, id, "egress", permissionsOf(actual, "egress"));
    }
    const timeout = Math.min(deleteTimeout, aws.timeout);
    await poll({ what: `security group ${id} to be free of dependants`, timeout }, () => deleteGroup(aws, id));
  },
});
