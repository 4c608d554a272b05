import { type _InstanceType, DescribeInstanceTypesCommand, EC2Client } from "@aws-sdk/client-ec2";
import type { Readable } from "../../infra/settings.ts";
import { type CapacityType, isStandard, type VcpuQuota, vcpuQuotas } from "../../lib/quotas.ts";
import type { AwsConfig } from "./aws.ts";
import { type Finding, note } from "./finding.ts";

/** The nodes that a cluster starts with. */
export interface Nodes {
  /** In order of preference. */
  readonly instanceTypes: readonly string[];
  readonly capacityType: CapacityType;
  readonly count: number;
  /** Availability zones of its node group. */
  readonly zones: number;
}

/** The nodes of a stack's hub. */
export function hubNodes({
  nodeInstanceTypes = ["m6i.large"],
  nodeCapacityType = "ON_DEMAND",
  nodeMin = 2,
  nodeDesired = nodeMin,
  zones = 2,
  vpcId,
  privateSubnetIds = [],
}: Readable): Nodes {
  return {
    instanceTypes: nodeInstanceTypes,
    capacityType: nodeCapacityType,
    count: nodeDesired,
    zones: vpcId ? privateSubnetIds.length : zones,
  };
}

/** The nodes of a Spoke with only the required fields. */
export const spokeNodes: Nodes = { instanceTypes: ["m6i.large"], capacityType: "ON_DEMAND", count: 2, zones: 2 };

/** All instance types of some nodes, each once. */
export const instanceTypesOf = (nodes: readonly Nodes[]): string[] => [
  ...new Set(nodes.flatMap(({ instanceTypes }) => instanceTypes)),
];

/** The vCPUs of instance types, as EC2 describes them. */
export async function vcpusOf(types: readonly string[], config: AwsConfig): Promise<ReadonlyMap<string, number>> {
  const asked = new DescribeInstanceTypesCommand({ InstanceTypes: types as _InstanceType[] });
  const { InstanceTypes = [] } = await new EC2Client(config).send(asked);
  return new Map(InstanceTypes.map(({ InstanceType = "", VCpuInfo }) => [InstanceType, VCpuInfo?.DefaultVCpus ?? 0]));
}

/**
 * vCPUs of a quota that nodes take, with the largest of their types, and those that EKS adds while it replaces a node group. Its update succeeds
 * only with a new node in every zone that has nodes (EKS User Guide, "Understand each phase of node updates", scale up phase; it tries up to two).
 */
export function vcpuShare(quota: VcpuQuota, nodes: Nodes, sizes: ReadonlyMap<string, number>) {
  const { instanceTypes, capacityType, count, zones } = nodes;
  if (vcpuQuotas[capacityType] !== quota) return { nodes: 0, replacement: 0 };
  const largest = Math.max(0, ...instanceTypes.filter(isStandard).map((type) => sizes.get(type) ?? 0));
  return { nodes: count * largest, replacement: Math.min(count, zones) * largest };
}

/** Instance types that count against quotas that are not checked. */
export function otherTypes({ instanceTypes }: Nodes): Finding[] {
  const others = instanceTypes.filter((type) => !isStandard(type));
  if (others.length === 0) return [];
  return [
    note(
      "vCPUs of other instances",
      `${others.join(", ")} of nodeInstanceTypes count against another quota than Standard instances`,
      "compare it in the console of Service Quotas, Amazon EC2",
    ),
  ];
}
