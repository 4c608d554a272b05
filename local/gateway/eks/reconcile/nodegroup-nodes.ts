import type { KubernetesObject } from "@kubernetes/client-node";
import type { NodeOptions } from "../../../clusters/node-config.ts";
import type { ClusterRecord, NodegroupRecord, NodeRecord } from "../model.ts";
import { freeNode, newInstanceId, nodesOf } from "../node-numbers.ts";
import { TAINT_EFFECTS } from "../nodegroup-config.ts";
import type { KubeApi } from "../runtime.ts";
import { runningUpdates } from "../updates.ts";
import type { ReconcileContext } from "./context.ts";

interface Node extends KubernetesObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** What was turned on or off on a node; undefined before it was either. */
interface StartedNode {
  /** The enforcement of NetworkPolicies. */
  enforced?: boolean;
  /** The EKS Pod Identity Agent. */
  agent?: boolean;
}

export interface NodesContext extends ReconcileContext {
  /** Nodes that this process has started, by instance id (the supervisor keeps them running), and what it did there since. */
  readonly startedNodes: Map<string, StartedNode>;
  /** Why nodes of node groups failed to start in the last attempt, and when (seconds since 1970), by instance id. */
  readonly failedStarts: Map<string, { readonly problem: string; readonly at: number }>;
  /** What this process last asked for, by the name of an Auto Scaling group. */
  readonly scalingGroups: Map<string, string>;
}

/** The nodes of a cluster that this process has started. */
export function startedNodesOf({ startedNodes }: Pick<NodesContext, "startedNodes">, record: ClusterRecord) {
  return nodesOf(record).flatMap(({ number, instanceId }) => {
    const started = startedNodes.get(instanceId);
    return started === undefined ? [] : [{ number, started }];
  });
}

/** One pass over one node group. */
export interface Work {
  readonly context: NodesContext;
  readonly cluster: string;
  readonly name: string;
  readonly kube: KubeApi;
}

export const desiredSize = ({ nodegroup }: NodegroupRecord): number => nodegroup.scalingConfig.desiredSize ?? 0;

const imageOf = ({ nodegroup }: NodegroupRecord): string =>
  `${nodegroup.releaseVersion ?? ""} ${nodegroup.launchTemplate?.version ?? ""}`;

/** Changes the record of the group, while there is one. */
export const changeGroup = (
  { context, cluster, name }: Work,
  edit: (group: NodegroupRecord, record: ClusterRecord) => void,
) =>
  context.store.change(cluster, (record) => {
    const group = record.nodegroups[name];
    if (group !== undefined) edit(group, record);
  });

/**
 * The nodes of a group that its running version update replaces. Without one none is: after a failed update the group may have
 * nodes of both versions.
 */
export function outdatedOf(
  record: ClusterRecord,
  group: NodegroupRecord,
  nodes: readonly NodeRecord[],
): readonly NodeRecord[] {
  const { nodegroupName, version } = group.nodegroup;
  if (runningUpdates(record, { nodegroupName }).every(({ type }) => type !== "VersionUpdate")) return [];
  const image = imageOf(group);
  return nodes.filter((node) => node.version !== version || node.image !== image);
}

export const drainSince = (work: Work, numbers: readonly number[], reason: "update" | "scaleDown"): Promise<void> =>
  changeGroup(work, ({ nodes }) => {
    for (const node of nodes)
      if (numbers.includes(node.number)) node.drain = { since: work.context.now(), for: reason };
  });

/**
 * Adds node records up to the desired size, and marks nodes above it for draining (the newest first). An update adds one node
 * while there is room, so that pods have somewhere to go; EKS adds up to two per zone.
 * @param launchable how many more nodes EC2 launches
 * @returns whether EC2 launches too few
 */
export async function applySize(work: Work, launchable: number): Promise<boolean> {
  const { context, cluster, name } = work;
  const record = context.store.get(cluster);
  const group = record.nodegroups[name];
  if (group === undefined) return false;
  const staying = group.nodes.filter((node) => node.drain?.for !== "scaleDown");
  const surge = outdatedOf(record, group, staying).length > 0 ? 1 : 0;
  const wanted = desiredSize(group) + surge;
  const most = Math.min(wanted, staying.length + launchable);
  const spare = staying.slice(wanted).map((node) => node.number);
  if (spare.length > 0) await drainSince(work, spare, "scaleDown");
  const zones = new Map((await context.aws.subnets(group.nodegroup.subnets)).map(({ id, zone }) => [id, zone]));
  await changeGroup(work, (target, stored) => {
    const { subnets, version } = target.nodegroup;
    for (let count = staying.length; count < most; count++) {
      const number = freeNode(stored);
      // No room until a draining node is gone.
      if (number === undefined) return;
      target.nodes.push({
        number,
        name: context.clusters.of(cluster).nodeName(stored.number, number),
        instanceId: newInstanceId(),
        zone: zones.get(subnets[target.nodes.length % subnets.length] ?? "") ?? `${context.region}a`,
        version,
        image: imageOf(target),
      });
    }
  });
  return most < wanted && staying.length < wanted;
}

export async function stopNode(work: Work, { number, instanceId }: NodeRecord): Promise<void> {
  const { context, cluster } = work;
  context.startedNodes.delete(instanceId);
  context.failedStarts.delete(instanceId);
  await context.clusters.of(cluster).stopNode(number);
  await changeGroup(work, (group) => {
    group.nodes = group.nodes.filter((other) => other.number !== number);
  });
}

export function removeNodegroup(record: ClusterRecord, nodegroupName: string): void {
  const gone = record.nodegroups[nodegroupName];
  delete record.nodegroups[nodegroupName];
  const role = gone?.nodegroup.nodeRole ?? "";
  const heir = Object.values(record.nodegroups).find((group) => group.nodegroup.nodeRole === role);
  // The access entry is deleted with the last group that uses its role.
  if (gone?.ownsAccessEntry === true && heir !== undefined) heir.ownsAccessEntry = true;
  else if (gone?.ownsAccessEntry === true) delete record.accessEntries[role];
}

export function nodeSpec(
  { nodegroup }: NodegroupRecord,
  node: NodeRecord,
  kubelet: Readonly<Record<string, unknown>>,
): NodeOptions {
  return {
    kubelet,
    number: node.number,
    nodeName: node.name,
    instanceId: node.instanceId,
    labels: {
      ...nodegroup.labels,
      "eks.amazonaws.com/nodegroup": nodegroup.nodegroupName,
      "eks.amazonaws.com/capacityType": nodegroup.capacityType ?? "ON_DEMAND",
      "eks.amazonaws.com/nodegroup-image": "ami-fleet",
    },
    taints: (nodegroup.taints ?? []).map(({ key = "", value = "", effect = "NO_SCHEDULE" }) => ({
      key,
      value,
      effect: TAINT_EFFECTS[effect],
    })),
    instanceType: nodegroup.instanceTypes[0] ?? "t3.medium",
    zone: node.zone,
  };
}

/** Whether each node that has joined a cluster is Ready, by its name. */
export async function joinedNodes(kube: KubeApi): Promise<Map<string, boolean>> {
  const nodes = await kube.list<Node>("v1", "Node");
  const isReady = ({ status }: Node): boolean =>
    status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;
  return new Map(nodes.map((node) => [node.metadata?.name ?? "", isReady(node)]));
}

/** Names of the Ready nodes of a cluster. */
export const readyNodes = async (kube: KubeApi): Promise<Set<string>> =>
  new Set([...(await joinedNodes(kube))].flatMap(([name, isReady]) => (isReady ? [name] : [])));

/** Records since when nodes of a group aren't Ready. */
export async function noteReadiness(work: Work, joined: ReadonlyMap<string, boolean>): Promise<void> {
  const { context, cluster, name } = work;
  const isReady = (node: NodeRecord): boolean => joined.get(node.name) === true;
  const isNoted = (node: NodeRecord): boolean => (node.missingSince === undefined) === isReady(node);
  if (context.store.get(cluster).nodegroups[name]?.nodes.every(isNoted) ?? true) return;
  await changeGroup(work, ({ nodes }) => {
    for (const node of nodes)
      if (isReady(node)) delete node.missingSince;
      else node.missingSince ??= context.now();
  });
}
