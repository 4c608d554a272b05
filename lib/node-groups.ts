import { createHash } from "node:crypto";
import { lengthSafe, nameLimits } from "./names.ts";

/**
 * What EKS can't change of a managed node group that exists (EKS API Reference: neither UpdateNodegroupConfig nor
 * UpdateNodegroupVersion takes it). The disk is none of it: it stands in the launch template, of which a group takes a new version.
 */
export interface FixedNodeFields {
  /** In order of preference. */
  readonly instanceTypes: readonly string[];
  readonly amiType: string;
  readonly capacityType: string;
  /** In any order. Default: none, where they never change. */
  readonly subnetIds?: readonly string[];
}

const canonical = ({ instanceTypes, amiType, capacityType, subnetIds = [] }: FixedNodeFields): string =>
  JSON.stringify([instanceTypes, amiType, capacityType, [...subnetIds].sort()]);

/** Hexadecimal digits in the name of a group. */
export const digestLength = 8;

/** Eight hexadecimal digits that follow from the fields. */
export const nodeDigest = (fields: FixedNodeFields): string =>
  createHash("sha256").update(canonical(fields)).digest("hex").slice(0, digestLength);

/** Name in AWS of the group with these fields: groups with other fields can stand beside it, and one comes before the other goes. */
export function nodeGroupName(base: string, fields: FixedNodeFields): string {
  const digest = nodeDigest(fields);
  return `${lengthSafe(base, nameLimits.eksNodeGroup - digest.length - 1)}-${digest}`;
}
