import type { ClusterRecord, NodegroupRecord, NodeRecord } from "../model.ts";
import type { EksContext } from "../operation.ts";
import type { KubeApi } from "../runtime.ts";
import { endUpdates, failUpdates, runningUpdates } from "../updates.ts";
import type { Again } from "./context.ts";
import { cordon, DRAIN_SECONDS, evictFrom, labelled } from "./drain.ts";
import {
  applySize,
  desiredSize,
  drainSince,
  nodeSpec,
  noteReadiness,
  outdatedOf,
  readyNodes,
  removeNodegroup,
  stopNode,
  type Work,
} from "./nodegroup-nodes.ts";

/** How often nodes that come up are looked at. */
const POLL_MS = 500;
/** When a node is not Ready for so long, and the group not changed either, the group says so (seconds). */
const READY_SECONDS = 300;

/** Brings the nodes of a cluster's node groups to what their records want. */
export async function nodegroupsStep(context: Work, name: string, kube: KubeApi): Promise<Again> {
  let delay: Again;
  for (const nodegroupName of Object.keys(context.store.get(name).nodegroups)) {
    const next = await oneNodegroup(context, name, nodegroupName, kube);
    if (next !== undefined) delay = Math.min(delay ?? next, next);
  }
  return delay;
}

async function oneNodegroup(context: Work, name: string, nodegroupName: string, kube: KubeApi): Promise<Again> {
  const record = context.store.get(name);
  const group = record.nodegroups[nodegroupName];
  if (group === undefined) return undefined;
  if (group.nodegroup.status === "DELETING") return removing(context, name, group, kube);
  await applySize(context, name, nodegroupName);
  const all = context.store.get(name).nodegroups[nodegroupName]?.nodes ?? [];
  const leaving = await scaleDownStep(context, name, group, kube, all);
  const nodes = all.filter((node) => node.drain?.for !== "scaleDown");
  const fresh = nodes.filter((node) => !context.startedNodes.has(`${name}/${node.number}`));
  await Promise.all(
    fresh.map(async (node) => {
      await context.runtime.startNode(name, nodeSpec(group, node));
      context.startedNodes.add(`${name}/${node.number}`);
    }),
  );
  const ready = await readyNodes(kube);
  await noteReadiness(context, name, nodegroupName, ready);
  const missing = nodes.filter((node) => !ready.has(node.name));
  if (missing.length > 0) return waiting(context, name, nodegroupName, missing);
  const outdated = outdatedOf(record, group, nodes);
  if (outdated.length > 0) return updateStep(context, name, group, kube, outdated);
  // There was no room for all of them yet.
  if (nodes.length < desiredSize(group)) return POLL_MS;
  await kube.apply(nodes.map((node) => labelled(group.nodegroup, node)));
  if (group.nodegroup.status !== "ACTIVE")
    await context.store.change(name, (stored) => {
      const current = stored.nodegroups[nodegroupName];
      if (current === undefined || current.nodegroup.status === "DELETING") return;
      // An update that has begun since is for the next look.
      if (updatesOf(stored, nodegroupName) !== updatesOf(record, nodegroupName)) return;
      current.nodegroup.status = "ACTIVE";
      current.nodegroup.health = { issues: [] };
      delete current.versionUpdate;
      endUpdates(stored, { nodegroupName });
    });
  return leaving;
}

const updatesOf = (record: ClusterRecord, nodegroupName: string): string =>
  runningUpdates(record, { nodegroupName })
    .map(({ id }) => id)
    .join();

/** All nodes at once, as the Auto Scaling group of a deleted node group shrinks to none. */
async function removing(context: Work, name: string, group: NodegroupRecord, kube: KubeApi): Promise<Again> {
  const { nodegroup, nodes } = group;
  const isOver = context.now() - (nodegroup.modifiedAt ?? 0) >= DRAIN_SECONDS.deletion;
  await cordon(kube, nodegroup, nodes, false);
  const occupied = await evictFrom(
    kube,
    nodes.map((node) => node.name),
  );
  for (const node of nodes)
    if (isOver || !occupied.has(node.name)) await stopNode(context, name, nodegroup.nodegroupName, node);
  if (!isOver && occupied.size > 0) return POLL_MS;
  await context.store.change(name, (stored) => removeNodegroup(stored, nodegroup.nodegroupName));
  return undefined;
}

/** Nodes above the desired size: drained, and terminated also when budgets hold their pods too long. */
async function scaleDownStep(
  context: Work,
  name: string,
  { nodegroup }: NodegroupRecord,
  kube: KubeApi,
  nodes: readonly NodeRecord[],
): Promise<Again> {
  const leaving = nodes.filter((node) => node.drain?.for === "scaleDown");
  if (leaving.length === 0) return undefined;
  await cordon(kube, nodegroup, leaving, false);
  const occupied = await evictFrom(
    kube,
    leaving.map((node) => node.name),
  );
  for (const node of leaving)
    if (!occupied.has(node.name) || isLate(context, node, DRAIN_SECONDS.scaleDown))
      await stopNode(context, name, nodegroup.nodegroupName, node);
  return POLL_MS;
}

const isLate = (context: Work, { drain }: NodeRecord, seconds: number): boolean =>
  drain !== undefined && context.now() - drain.since >= seconds;

/**
 * One look at an update whose new nodes are Ready: no outdated node takes pods any more, and the first of them is drained. EKS
 * then waits another minute for load balancers, which are not there here.
 */
async function updateStep(
  context: Work,
  name: string,
  group: NodegroupRecord,
  kube: KubeApi,
  outdated: readonly NodeRecord[],
): Promise<Again> {
  const { nodegroup, versionUpdate } = group;
  const [node] = outdated;
  if (node === undefined) return undefined;
  if (node.drain === undefined) await drainSince(context, name, nodegroup.nodegroupName, [node.number], "update");
  await cordon(kube, nodegroup, outdated, true);
  const isOccupied = (await evictFrom(kube, [node.name])).size > 0;
  if (isOccupied && !isLate(context, node, DRAIN_SECONDS.update)) return POLL_MS;
  if (isOccupied && versionUpdate?.force !== true) await evictionFailed(context, name, nodegroup.nodegroupName, node);
  // One by one, and only while all others are Ready: what a rolling update means.
  else await stopNode(context, name, nodegroup.nodegroupName, node);
  return 0;
}

/** In the words of EKS (aws/containers-roadmap#1282). */
async function evictionFailed(context: Work, name: string, nodegroupName: string, node: NodeRecord): Promise<void> {
  await context.store.change(name, (stored) => {
    const group = stored.nodegroups[nodegroupName];
    if (group === undefined || group.nodegroup.status === "DELETING") return;
    group.nodegroup.status = "ACTIVE";
    failUpdates(stored, nodegroupName, {
      errorCode: "PodEvictionFailure",
      errorMessage: `Reached max retries while trying to evict pods from nodes in node group ${nodegroupName}`,
      resourceIds: [node.name],
    });
  });
}

async function waiting(
  context: EksContext,
  name: string,
  nodegroupName: string,
  missing: readonly NodeRecord[],
): Promise<Again> {
  const names = missing.map((node) => node.name);
  await context.store.change(name, (stored) => {
    const group = stored.nodegroups[nodegroupName];
    if (group === undefined || group.nodegroup.status === "DELETING") return;
    const { nodegroup, nodes } = group;
    const since = nodes.flatMap((node) => (names.includes(node.name) ? (node.missingSince ?? []) : []));
    if (context.now() - Math.max(nodegroup.modifiedAt ?? 0, Math.min(...since)) < READY_SECONDS) return;
    const message = `nodes ${names.join(", ")} are not Ready: see the logs of their kubelets`;
    nodegroup.health = { issues: [{ code: "NodeCreationFailure", message, resourceIds: names }] };
    if (nodegroup.status === "CREATING") nodegroup.status = "CREATE_FAILED";
    if (nodegroup.status === "UPDATING") {
      nodegroup.status = "DEGRADED";
      failUpdates(stored, nodegroupName, { errorCode: "NodeCreationFailure", errorMessage: message });
    }
  });
  return POLL_MS;
}
