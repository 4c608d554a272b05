import * as z from "zod";
import { accessEntry } from "./access-entries.ts";
import { invalidParameter } from "./errors.ts";
import type { Cluster, ClusterRecord } from "./model.ts";
import { type EksContext, structure } from "./operation.ts";
import { assumableRole, existingPrincipal, roleWithArn } from "./principals.ts";

/** EKS Auto Mode in CreateCluster, UpdateClusterConfig and DescribeCluster. */

/** EKS' own node pools; a cluster may have any of them, or none. */
export const NODE_POOLS = ["general-purpose", "system"] as const;
export type NodePool = (typeof NODE_POOLS)[number];

const enabled = structure({ enabled: z.boolean().optional() });

/** The settings that turn it on and off, all three together. */
export const autoModeSettings = {
  computeConfig: structure({
    enabled: z.boolean().optional(),
    nodePools: z.array(z.enum(NODE_POOLS)).optional(),
    nodeRoleArn: z.string().optional(),
  }).optional(),
  storageConfig: structure({ blockStorage: enabled.optional() }).optional(),
};
export const elasticLoadBalancing = enabled;

interface Enabled {
  readonly enabled?: boolean | undefined;
}

export interface AskedAutoMode {
  readonly computeConfig?:
    | (Enabled & { readonly nodePools?: NodePool[] | undefined; readonly nodeRoleArn?: string | undefined })
    | undefined;
  readonly storageConfig?: { readonly blockStorage?: Enabled | undefined } | undefined;
  readonly kubernetesNetworkConfig?: { readonly elasticLoadBalancing?: Enabled | undefined } | undefined;
}

/** What DescribeCluster tells of it. */
export type AutoMode = Pick<Cluster, "computeConfig" | "storageConfig"> & {
  readonly elasticLoadBalancing: { readonly enabled: boolean };
};

export const isAuto = ({ computeConfig }: Pick<Cluster, "computeConfig">): boolean => computeConfig?.enabled === true;

/** Whether a request says anything of it. */
export const asksForAutoMode = ({ computeConfig, storageConfig, kubernetesNetworkConfig }: AskedAutoMode): boolean =>
  computeConfig !== undefined ||
  storageConfig !== undefined ||
  kubernetesNetworkConfig?.elasticLoadBalancing !== undefined;

/** In the words of EKS (kubernetes-sigs/cluster-api-provider-aws#5278). */
const MIXED =
  "For EKS Auto Mode, please ensure that all required configs, including computeConfig, kubernetesNetworkConfig, and blockStorage are all either fully enabled or fully disabled.";

/** Throws, in the words of EKS, unless node pools and the role of their nodes come together (terraform-aws-eks#3366, aws-cdk#33894). */
function expectRoleOfPools(nodePools: readonly NodePool[], nodeRoleArn: string | undefined): void {
  if (!nodeRoleArn && nodePools.length > 0)
    throw invalidParameter("When Compute Config nodeRoleArn is null or empty, nodePool list cannot be populated.");
  if (nodeRoleArn && nodePools.length === 0)
    throw invalidParameter("When Compute Config nodeRoleArn is not null or empty, nodePool value(s) must be provided.");
}

/** Throws unless the role of the control plane lets EKS tag its sessions, without which no policy of Auto Mode holds. The words are ours. */
async function expectTaggedSessions(context: EksContext, roleArn: string): Promise<void> {
  const { trustPolicy } = await roleWithArn(context, roleArn);
  if (!/"sts:(TagSession|\*)"/.test(trustPolicy))
    throw invalidParameter(
      `The trust policy of the cluster role ${roleArn} must allow sts:TagSession for EKS Auto Mode, beside sts:AssumeRole`,
    );
}

/**
 * What a cluster has after a request; undefined where it has never had Auto Mode and does not get it. Throws InvalidParameterException.
 * @param roleArn role of the control plane
 * @param now what it has
 */
export async function autoModeAfter(
  context: EksContext,
  roleArn: string,
  asked: AskedAutoMode,
  now?: Cluster,
): Promise<AutoMode | undefined> {
  const was = now !== undefined && isAuto(now);
  const flags = [
    asked.computeConfig?.enabled ?? was,
    asked.storageConfig?.blockStorage?.enabled ?? was,
    asked.kubernetesNetworkConfig?.elasticLoadBalancing?.enabled ?? was,
  ];
  if (new Set(flags).size > 1) throw invalidParameter(MIXED);
  const [on = false] = flags;
  const before = was ? now.computeConfig : undefined;
  const nodePools = asked.computeConfig?.nodePools ?? (before?.nodePools as NodePool[] | undefined) ?? [];
  const nodeRoleArn = asked.computeConfig?.nodeRoleArn ?? (nodePools.length > 0 ? before?.nodeRoleArn : undefined);
  if (!on) {
    if (nodePools.length > 0 && !was)
      throw invalidParameter("computeConfig.nodePools can't be populated while computeConfig.enabled is false");
    const off = { enabled: false };
    return now?.computeConfig === undefined
      ? undefined
      : { computeConfig: off, storageConfig: { blockStorage: off }, elasticLoadBalancing: off };
  }
  expectRoleOfPools(nodePools, nodeRoleArn);
  // EKS API Reference, ComputeConfigRequest.
  if (before?.nodeRoleArn !== undefined && nodeRoleArn !== undefined && nodeRoleArn !== before.nodeRoleArn)
    throw invalidParameter("computeConfig.nodeRoleArn can't be changed after the compute capability is enabled");
  if (!was) await expectTaggedSessions(context, roleArn);
  if (nodeRoleArn !== undefined) await assumableRole(context, nodeRoleArn, "ec2.amazonaws.com");
  return {
    computeConfig: { enabled: true, nodePools, ...(nodeRoleArn !== undefined && { nodeRoleArn }) },
    storageConfig: { blockStorage: { enabled: true } },
    elasticLoadBalancing: { enabled: true },
  };
}

/** The access entry of the nodes' role, which EKS makes with its own node pools ("Create node class"); undefined where there is one. */
export async function nodeEntry(context: EksContext, record: Pick<ClusterRecord, "cluster" | "accessEntries">) {
  const { cluster, accessEntries } = record;
  const arn = isAuto(cluster) ? cluster.computeConfig?.nodeRoleArn : undefined;
  if (arn === undefined || accessEntries[arn] !== undefined) return undefined;
  const principal = await existingPrincipal(context, arn);
  return { entry: accessEntry(context, cluster.name, principal, "EC2"), roleId: principal.roleId, policies: [] };
}
