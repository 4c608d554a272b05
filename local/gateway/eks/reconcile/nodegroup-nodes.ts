import { randomBytes } from "node:crypto";
import type { KubernetesObject } from "@kubernetes/client-node";
import { MAX_NODES } from "../../../instance/index.ts";
import type { ClusterRecord, NodegroupRecord, NodeRecord } from "../model.ts";
import { TAINT_EFFECTS } from "../nodegroup-config.ts";
import type { EksContext } from "../operation.ts";
import type { KubeApi, NodeSpec } from "../runtime.ts";
import { runningUpdates } from "../updates.ts";

interface Node extends KubernetesObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Nodes that this process has started, as `cluster/number`: a start is asked for once, the supervisor keeps it. */
export type StartedNodes = Set<string>;

export type Work = EksContext & { readonly startedNodes: StartedNodes };

export const desiredSize = ({ nodegroup }: NodegroupRecord): number => nodegroup.scalingConfig.desiredSize ?? 0;

const imageOf = ({ nodegroup }: NodegroupRecord): string =>
  `${nodegroup.releaseVersion ?? ""} ${nodegroup.launchTemplate?.version ?? ""}`;

/**
 * Those of a group's nodes that an update replaces. Only an update does: after one that failed the group may have nodes of both
 * versions. An update that an earlier gateway has begun is known by its record alone.
 */
export function outdatedOf(
  record: ClusterRecord,
  group: NodegroupRecord,
  nodes: readonly NodeRecord[],
): readonly NodeRecord[] {
  const { nodegroupName, version } = group.nodegroup;
  if (runningUpdates(record, { nodegroupName }).every(({ type }) => type !== "VersionUpdate")) return [];
  const image = imageOf(group);
  return nodes.filter((node) => node.version !== version || (node.image !== undefined && node.image !== image));
}

export async function drainSince(
  context: Work,
  name: string,
  nodegroupName: string,
  numbers: readonly number[],
  reason: "update" | "scaleDown",
): Promise<void> {
  await context.store.change(name, (stored) => {
    for (const node of stored.nodegroups[nodegroupName]?.nodes ?? [])
      if (numbers.includes(node.number)) node.drain = { since: context.now(), for: reason };
  });
}

/**
 * Records nodes up to the desired size, and has those above it drained (the newest first). An update has one more while there is
 * room, so that pods have somewhere to go; EKS has up to two for each zone more.
 */
export async function applySize(context: Work, name: string, nodegroupName: string): Promise<void> {
  const record = context.store.get(name);
  const group = record.nodegroups[nodegroupName];
  if (group === undefined) return;
  const staying = group.nodes.filter((node) => node.drain?.for !== "scaleDown");
  const surge = outdatedOf(record, group, staying).length > 0 ? 1 : 0;
  const wanted = desiredSize(group) + surge;
  const spare = staying.slice(wanted).map((node) => node.number);
  if (spare.length > 0) await drainSince(context, name, nodegroupName, spare, "scaleDown");
  const zones = new Map((await context.aws.subnets(group.nodegroup.subnets)).map((subnet) => [subnet.id, subnet.zone]));
  await context.store.change(name, (stored) => {
    const target = stored.nodegroups[nodegroupName];
    if (target === undefined) return;
    for (let count = staying.length; count < wanted; count++) {
      const number = freeNode(stored);
      // Once a node that is being drained is gone there is room for more.
      if (number === undefined) return;
      const subnet = target.nodegroup.subnets[target.nodes.length % target.nodegroup.subnets.length] ?? "";
      target.nodes.push({
        number,
        name: context.runtime.nodeName({ name, number: stored.number }, number),
        instanceId: `i-0${randomBytes(8).toString("hex")}`,
        zone: zones.get(subnet) ?? `${context.region}a`,
        version: target.nodegroup.version,
        image: imageOf(target),
      });
    }
  });
}

function freeNode(record: ClusterRecord): number | undefined {
  const taken = new Set(Object.values(record.nodegroups).flatMap((group) => group.nodes.map((node) => node.number)));
  return Array.from({ length: MAX_NODES }, (_, number) => number).find((number) => !taken.has(number));
}

export async function stopNode(context: Work, name: string, nodegroupName: string, node: NodeRecord): Promise<void> {
  context.startedNodes.delete(`${name}/${node.number}`);
  await context.runtime.stopNode(name, node.number);
  await context.store.change(name, (stored) => {
    const group = stored.nodegroups[nodegroupName];
    if (group !== undefined) group.nodes = group.nodes.filter((other) => other.number !== node.number);
  });
}

export function removeNodegroup(record: ClusterRecord, nodegroupName: string): void {
  const gone = record.nodegroups[nodegroupName];
  delete record.nodegroups[nodegroupName];
  const role = gone?.nodegroup.nodeRole ?? "";
  const heir = Object.values(record.nodegroups).find((group) => group.nodegroup.nodeRole === role);
  // The entry that came with a group goes with the last group of its role.
  if (gone?.ownsAccessEntry === true && heir !== undefined) heir.ownsAccessEntry = true;
  else if (gone?.ownsAccessEntry === true) delete record.accessEntries[role];
}

export function nodeSpec({ nodegroup }: NodegroupRecord, node: NodeRecord): NodeSpec {
  return {
    number: node.number,
    nodeName: node.name,
    instanceId: node.instanceId,
    labels: {
      "eks.amazonaws.com/nodegroup": nodegroup.nodegroupName,
      "eks.amazonaws.com/capacityType": nodegroup.capacityType ?? "ON_DEMAND",
      "eks.amazonaws.com/nodegroup-image": "ami-fleet",
    },
    taints: (nodegroup.taints ?? []).map((taint) => ({
      key: taint.key ?? "",
      value: taint.value ?? "",
      effect: TAINT_EFFECTS[taint.effect ?? "NO_SCHEDULE"],
    })),
    instanceType: nodegroup.instanceTypes[0] ?? "t3.medium",
    zone: node.zone,
  };
}

export async function readyNodes(kube: KubeApi): Promise<Set<string>> {
  const nodes = await kube.list<Node>("v1", "Node");
  const isReady = (node: Node): boolean =>
    node.status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;
  return new Set(nodes.filter(isReady).map((node) => node.metadata?.name ?? ""));
}

/** Records since when which nodes of a group are not Ready, given the names of those that are. */
export async function noteReadiness(
  context: Work,
  name: string,
  nodegroupName: string,
  ready: ReadonlySet<string>,
): Promise<void> {
  const isNoted = (node: NodeRecord): boolean => (node.missingSince === undefined) === ready.has(node.name);
  if (context.store.get(name).nodegroups[nodegroupName]?.nodes.every(isNoted) ?? true) return;
  await context.store.change(name, (stored) => {
    for (const node of stored.nodegroups[nodegroupName]?.nodes ?? [])
      if (ready.has(node.name)) delete node.missingSince;
      else node.missingSince ??= context.now();
  });
}
