import type { ClusterRecord, NodegroupRecord, NodeRecord } from "../model.ts";
import type { KubeApi } from "../runtime.ts";
import { endUpdates, failUpdates, runningUpdates } from "../updates.ts";
import { type Again, soonest } from "./context.ts";
import { cordon, DRAIN_SECONDS, evictFrom, labelled } from "./drain.ts";
import { launchable, launchRefused } from "./launch-refusals.ts";
import {
  applySize,
  changeGroup,
  desiredSize,
  drainSince,
  joinedNodes,
  noteReadiness,
  outdatedOf,
  removeNodegroup,
  stopNode,
  type Work,
} from "./nodegroup-nodes.ts";
import { POLL_MS, startNodes, waiting } from "./nodegroup-start.ts";
import { keepScalingGroup, removeScalingGroup } from "./scaling-group.ts";

/** Reconciles the nodes of a cluster's node groups. */
export async function nodegroupsStep(context: Work["context"], cluster: string, kube: KubeApi): Promise<Again> {
  const delays: Again[] = [];
  for (const name of Object.keys(context.store.get(cluster).nodegroups))
    delays.push(await oneNodegroup({ context, cluster, name, kube }));
  return soonest(delays);
}

async function oneNodegroup(work: Work): Promise<Again> {
  const { context, cluster, name, kube } = work;
  const record = context.store.get(cluster);
  const group = record.nodegroups[name];
  if (group === undefined) return undefined;
  if (group.nodegroup.status === "DELETING") return removing(work, group);
  // EKS looks at it no more, even if its instances join later (aws/containers-roadmap#764).
  if (group.nodegroup.status === "CREATE_FAILED") return undefined;
  const isRefused = await applySize(work, await launchable(work, group));
  if (isRefused) await launchRefused(work, group);
  await keepScalingGroup(work);
  const all = context.store.get(cluster).nodegroups[name]?.nodes ?? [];
  const leaving = await scaleDownStep(work, group, all);
  const nodes = all.filter((node) => node.drain?.for !== "scaleDown");
  await startNodes(work, group, nodes);
  const joined = await joinedNodes(kube);
  await noteReadiness(work, joined);
  const missing = nodes.filter(({ name }) => joined.get(name) !== true);
  if (missing.length > 0) return waiting(work, missing, joined);
  const outdated = outdatedOf(record, group, nodes);
  if (outdated.length > 0) return isRefused ? POLL_MS : updateStep(work, group, outdated);
  // There was no room for all nodes yet.
  if (nodes.length < desiredSize(group)) return POLL_MS;
  await keepScalingGroup(work);
  await kube.apply(nodes.map((node) => labelled(group.nodegroup, node)));
  const { status, health } = group.nodegroup;
  if (status !== "ACTIVE" || (health?.issues ?? []).length > 0)
    await changeGroup(work, (current, stored) => {
      if (current.nodegroup.status === "DELETING") return;
      // An update that began since this pass is for the next one.
      if (updatesOf(stored, name) !== updatesOf(record, name)) return;
      Object.assign(current.nodegroup, { status: "ACTIVE", health: { issues: [] } });
      delete current.versionUpdate;
      endUpdates(stored, { nodegroupName: name });
    });
  return leaving;
}

const updatesOf = (record: ClusterRecord, nodegroupName: string): string =>
  runningUpdates(record, { nodegroupName })
    .map(({ id }) => id)
    .join();

/** Drains nodes; stops those that are empty or, by `isLate`, out of time. Whether all were stopped. */
async function drained(
  work: Work,
  { nodegroup }: NodegroupRecord,
  nodes: readonly NodeRecord[],
  isLate: (node: NodeRecord) => boolean,
): Promise<boolean> {
  await cordon(work.kube, nodegroup, nodes, false);
  const occupied = await evictFrom(
    work.kube,
    nodes.map(({ name }) => name),
  );
  const going = nodes.filter((node) => !occupied.has(node.name) || isLate(node));
  for (const node of going) await stopNode(work, node);
  return going.length === nodes.length;
}

/** Drains all nodes at once, as EKS scales the Auto Scaling group of a deleted node group to zero. */
async function removing(work: Work, group: NodegroupRecord): Promise<Again> {
  const { context, cluster, name } = work;
  const isOver = context.now() - (group.nodegroup.modifiedAt ?? 0) >= DRAIN_SECONDS.deletion;
  if (!(await drained(work, group, group.nodes, () => isOver))) return POLL_MS;
  await removeScalingGroup(work, group);
  await context.store.change(cluster, (stored) => removeNodegroup(stored, name));
  return undefined;
}

/** Drains the nodes above the desired size, and terminates them also when budgets hold their pods too long. */
async function scaleDownStep(work: Work, group: NodegroupRecord, nodes: readonly NodeRecord[]): Promise<Again> {
  const leaving = nodes.filter((node) => node.drain?.for === "scaleDown");
  if (leaving.length === 0) return undefined;
  await drained(work, group, leaving, (node) => isLate(work, node, DRAIN_SECONDS.scaleDown));
  return POLL_MS;
}

const isLate = ({ context }: Work, { drain }: NodeRecord, seconds: number): boolean =>
  drain !== undefined && context.now() - drain.since >= seconds;

/**
 * One pass of an update whose new nodes are Ready: cordons all outdated nodes and drains the first. (EKS then waits another
 * minute for load balancers; there are none here.)
 */
async function updateStep(
  work: Work,
  { nodegroup, versionUpdate }: NodegroupRecord,
  outdated: readonly NodeRecord[],
): Promise<Again> {
  const [node] = outdated;
  if (node === undefined) return undefined;
  if (node.drain === undefined) await drainSince(work, [node.number], "update");
  await cordon(work.kube, nodegroup, outdated, true);
  const isOccupied = (await evictFrom(work.kube, [node.name])).size > 0;
  if (isOccupied && !isLate(work, node, DRAIN_SECONDS.update)) return POLL_MS;
  if (isOccupied && versionUpdate?.force !== true) await evictionFailed(work, node);
  // One by one, and only while all others are Ready.
  else await stopNode(work, node);
  return 0;
}

/** In the words of EKS (aws/containers-roadmap#1282). */
const evictionFailed = (work: Work, node: NodeRecord): Promise<void> =>
  changeGroup(work, ({ nodegroup }, stored) => {
    if (nodegroup.status === "DELETING") return;
    nodegroup.status = "ACTIVE";
    failUpdates(stored, work.name, {
      errorCode: "PodEvictionFailure",
      errorMessage: `Reached max retries while trying to evict pods from nodes in node group ${work.name}`,
      resourceIds: [node.name],
    });
  });
