/** Security group rules: between the blocks of the schema and the permissions of the EC2 API. */
import type { IpPermission } from "@aws-sdk/client-ec2";

/** One block of `ingress` or `egress`, and the inputs of SecurityGroupRule. */
export interface RuleBlock {
  protocol: string;
  fromPort: number;
  toPort: number;
  cidrBlocks?: string[];
  ipv6CidrBlocks?: string[];
  prefixListIds?: string[];
  securityGroups?: string[];
  self?: boolean;
  description?: string;
}

export const ruleBlockNames = [
  "protocol",
  "fromPort",
  "toPort",
  "cidrBlocks",
  "ipv6CidrBlocks",
  "prefixListIds",
  "securityGroups",
  "self",
  "description",
] as const;

const protocolNumbers: Record<string, string> = { "6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", all: "-1" };

/** Protocol names as EC2 returns them. */
export const protocolName = (protocol: string): string =>
  protocolNumbers[protocol.toLowerCase()] ?? protocol.toLowerCase();

/** The permission of a block; `group` stands for `self`. Ports are left out for all protocols, as EC2 does. */
export function permissionOf(block: RuleBlock, group: string): IpPermission {
  const protocol = protocolName(block.protocol);
  const described = block.description ? { Description: block.description } : {};
  const groups = [...(block.securityGroups ?? []), ...(block.self ? [group] : [])];
  return {
    IpProtocol: protocol,
    ...(protocol !== "-1" && { FromPort: block.fromPort, ToPort: block.toPort }),
    ...(block.cidrBlocks?.length && { IpRanges: block.cidrBlocks.map((CidrIp) => ({ CidrIp, ...described })) }),
    ...(block.ipv6CidrBlocks?.length && {
      Ipv6Ranges: block.ipv6CidrBlocks.map((CidrIpv6) => ({ CidrIpv6, ...described })),
    }),
    ...(block.prefixListIds?.length && {
      PrefixListIds: block.prefixListIds.map((PrefixListId) => ({ PrefixListId, ...described })),
    }),
    ...(groups.length && { UserIdGroupPairs: groups.map((GroupId) => ({ GroupId, ...described })) }),
  };
}

interface Source {
  kind: "cidrBlocks" | "ipv6CidrBlocks" | "prefixListIds" | "securityGroups" | "self";
  value: string;
  description: string;
}

function sourcesOf(permission: IpPermission, group: string): Source[] {
  const source = (kind: Source["kind"], value: string | undefined, description: string | undefined): Source => ({
    kind,
    value: value ?? "",
    description: description ?? "",
  });
  return [
    ...(permission.IpRanges ?? []).map((r) => source("cidrBlocks", r.CidrIp, r.Description)),
    ...(permission.Ipv6Ranges ?? []).map((r) => source("ipv6CidrBlocks", r.CidrIpv6, r.Description)),
    ...(permission.PrefixListIds ?? []).map((r) => source("prefixListIds", r.PrefixListId, r.Description)),
    ...(permission.UserIdGroupPairs ?? []).map((r) =>
      source(r.GroupId === group ? "self" : "securityGroups", r.GroupId, r.Description),
    ),
  ];
}

/** Blocks as Terraform forms them: sources of one permission with the same description share a block. */
export function blocksOf(permissions: readonly IpPermission[], group: string): RuleBlock[] {
  const blocks = new Map<string, RuleBlock>();
  for (const permission of permissions) {
    const all = permission.IpProtocol === "-1";
    const [fromPort, toPort] = all ? [0, 0] : [permission.FromPort ?? 0, permission.ToPort ?? 0];
    for (const { kind, value, description } of sourcesOf(permission, group)) {
      const key = [permission.IpProtocol, fromPort, toPort, description].join(" ");
      const block = blocks.get(key) ?? {
        ...{ protocol: permission.IpProtocol ?? "", fromPort, toPort, description, self: false },
        ...{ cidrBlocks: [], ipv6CidrBlocks: [], prefixListIds: [], securityGroups: [] },
      };
      if (kind === "self") block.self = true;
      else block[kind]?.push(value);
      blocks.set(key, block);
    }
  }
  return [...blocks.values()];
}

/** A block in one form, whatever was left out: for comparison. */
export function normalBlock(block: RuleBlock): RuleBlock {
  const protocol = protocolName(block.protocol);
  const text = (items: string[] | undefined) => [...(items ?? [])].sort();
  return {
    protocol,
    fromPort: protocol === "-1" ? 0 : block.fromPort,
    toPort: protocol === "-1" ? 0 : block.toPort,
    description: block.description ?? "",
    self: block.self ?? false,
    cidrBlocks: text(block.cidrBlocks),
    ipv6CidrBlocks: text(block.ipv6CidrBlocks),
    prefixListIds: text(block.prefixListIds),
    securityGroups: text(block.securityGroups),
  };
}
