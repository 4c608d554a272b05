import { hasNvidia, isArm } from "../../lib/instance-types.ts";
import { nodeGroupLabel } from "../../lib/labels.ts";
import type { AmiType, NodeGroupSpec, SpokeSpec, Taint } from "./api.ts";
import { isAuto } from "./auto-mode.ts";

/** A node group as a Spoke asks for it, in `spec.nodes` or in `spec.nodeGroups`. */
export interface AskedGroup extends Omit<NodeGroupSpec, "amiFamily" | "labels" | "taints"> {
  readonly amiType: AmiType;
  /** Undefined for the group of `spec.nodes`, whose labels and taints are nobody's business. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
}

/** The name in `spec.nodeGroups` of the group that `spec.nodes` makes: a Spoke that switches to `nodeGroups` keeps its nodes by it. */
export const firstGroup = "nodes";

/** What the nodes of a group are called in tags, behind the name of their cluster. */
export const nodesTag = (group: string): string => (group === firstGroup ? "nodes" : `nodes-${group}`);

/** The AMI for a group's family, whose architecture and drivers follow from the types; the definition has them fit each other. */
export function amiTypeOf({ amiFamily, instanceTypes }: Pick<NodeGroupSpec, "amiFamily" | "instanceTypes">): AmiType {
  const [type = ""] = instanceTypes;
  const architecture = isArm(type) ? "ARM_64" : "x86_64";
  if (amiFamily === "Bottlerocket")
    return hasNvidia(type) ? `BOTTLEROCKET_${architecture}_NVIDIA` : `BOTTLEROCKET_${architecture}`;
  return `AL2023_${architecture}_${hasNvidia(type) ? "NVIDIA" : "STANDARD"}`;
}

/** The node groups that a Spoke asks for: none with EKS Auto Mode. */
export function askedGroups(spec: Pick<SpokeSpec, "compute" | "nodes" | "nodeGroups">): readonly AskedGroup[] {
  const { nodes, nodeGroups } = spec;
  if (isAuto({ spec })) return [];
  if (nodeGroups === undefined) return [{ name: firstGroup, ...nodes }];
  return nodeGroups.map(({ amiFamily, labels, ...group }) => ({
    ...group,
    amiType: amiTypeOf({ amiFamily, instanceTypes: group.instanceTypes }),
    labels: { ...labels, [nodeGroupLabel]: group.name },
  }));
}

export const isBottlerocket = (amiType: AmiType): boolean => amiType.startsWith("BOTTLEROCKET");
