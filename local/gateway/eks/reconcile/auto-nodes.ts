import { cpus, totalmem } from "node:os";
import { isAuto, NODE_POOLS } from "../auto-mode.ts";
import { offersOf, ownLabels } from "../auto-offers.ts";
import { emptyNodes, nodeToStart, type Offer, type Pod } from "../auto-scaling.ts";
import type { AutoNodeRecord, ClusterRecord } from "../model.ts";
import { freeNode, newInstanceId } from "../node-numbers.ts";
import type { KubeApi } from "../runtime.ts";
import type { Again } from "./context.ts";
import { evictFrom } from "./drain.ts";
import { type NodesContext, readyNodes } from "./nodegroup-nodes.ts";

/** How often the pods of a cluster with Auto Mode are looked at (milliseconds). */
const POLL_MS = 1000;
/** How long a node stays without a pod that keeps it (seconds): as long as the scheduler may take to place one, and then some. */
export const EMPTY_SECONDS = 30;
/** For how long no further node is started for a pod that the last one did not help (seconds). */
const SERVED_SECONDS = 600;
/** What the role of the control plane needs to start nodes (AWS Managed Policy Reference). Policies of one's own instead are not looked into. */
const POLICIES = ["AmazonEKSComputePolicy", "AmazonEKSNetworkingPolicy"];

/** What this process knows of a cluster's pods beside its record: when a node was started for them, by UID. */
const servedPods = new WeakMap<NodesContext["startedNodes"], Map<string, number>>();

/** Starts nodes for pods that fit nowhere, and takes back those that nobody needs; all of them once Auto Mode is off. */
export async function autoNodesStep(context: NodesContext, cluster: string, kube: KubeApi): Promise<Again> {
  const record = context.store.get(cluster);
  const nodes = record.autoNodes;
  if (!isAuto(record.cluster)) {
    // "EKS will terminate all EC2 instances operated by EKS Auto Mode" (EKS User Guide, "Disable EKS Auto Mode").
    for (const node of nodes) await stop(context, cluster, node);
    return undefined;
  }
  const fresh = nodes.filter(({ instanceId }) => !context.startedNodes.has(instanceId));
  await Promise.all(fresh.map((node) => start(context, cluster, node)));
  const [pods, ready] = [await kube.list<Pod>("v1", "Pod"), await readyNodes(kube)];
  await takeBack({ context, cluster, kube, pods, ready });
  await startOne({ context, cluster, kube, pods, ready });
  return POLL_MS;
}

interface Pass {
  readonly context: NodesContext;
  readonly cluster: string;
  readonly kube: KubeApi;
  readonly pods: readonly Pod[];
  /** Names of Ready nodes. */
  readonly ready: ReadonlySet<string>;
}

async function start(context: NodesContext, cluster: string, node: AutoNodeRecord): Promise<void> {
  const { number, name: nodeName, instanceId, labels, taints, instanceType, zone } = node;
  await context.clusters.of(cluster).startNode({ number, nodeName, instanceId, labels, taints, instanceType, zone });
  context.startedNodes.set(instanceId, {});
}

async function stop(context: NodesContext, cluster: string, { number, instanceId }: AutoNodeRecord): Promise<void> {
  context.startedNodes.delete(instanceId);
  await context.clusters.of(cluster).stopNode(number);
  await context.store.change(cluster, (record) => {
    record.autoNodes = record.autoNodes.filter((each) => each.number !== number);
  });
}

/** Which nodes are to go: those of another Kubernetes version than the control plane's, one at a time, and those that stay empty. */
function leavingOf(record: ClusterRecord, empty: readonly string[], now: number): readonly AutoNodeRecord[] {
  const nodes = record.autoNodes;
  const isOver = ({ name, emptySince = now }: AutoNodeRecord) =>
    empty.includes(name) && now - emptySince >= EMPTY_SECONDS;
  const begun = nodes.filter(({ leaving }) => leaving === true);
  const old = nodes.filter(({ version }) => version !== record.cluster.version).slice(0, begun.length > 0 ? 0 : 1);
  return nodes.filter((node) => begun.includes(node) || old.includes(node) || isOver(node));
}

/** Notes which nodes are empty, drains those that leave, by evictions that budgets may refuse, and stops the ones that are. */
async function takeBack({ context, cluster, kube, pods, ready }: Pass): Promise<void> {
  const running = context.store
    .get(cluster)
    .autoNodes.map(({ name }) => name)
    .filter((name) => ready.has(name));
  const empty = emptyNodes(pods, running);
  const now = context.now();
  const leaving = leavingOf(context.store.get(cluster), empty, now).map(({ name }) => name);
  await context.store.change(cluster, (record) => {
    for (const node of record.autoNodes) {
      if (!empty.includes(node.name)) delete node.emptySince;
      else node.emptySince ??= now;
      if (leaving.includes(node.name)) node.leaving = true;
    }
  });
  if (leaving.length === 0) return;
  // A node that never registered has no object to cordon.
  const there = leaving.filter((name) => ready.has(name));
  await kube.apply(
    there.map((name) => ({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: { unschedulable: true } })),
  );
  const occupied = await evictFrom(kube, there);
  for (const node of context.store.get(cluster).autoNodes)
    if (leaving.includes(node.name) && !occupied.has(node.name)) await stop(context, cluster, node);
}

/** Starts one node, unless one is on its way that could take the pods. */
async function startOne({ context, cluster, pods, ready }: Pass): Promise<void> {
  const record = context.store.get(cluster);
  const nodes = record.autoNodes;
  if (nodes.some(({ name, leaving }) => leaving !== true && !ready.has(name))) return;
  const now = context.now();
  const served = servedOf(context);
  for (const [uid, since] of served) if (now - since >= SERVED_SECONDS) served.delete(uid);
  const { nodePools = [], nodeRoleArn } = record.cluster.computeConfig ?? {};
  const pools = NODE_POOLS.filter((pool) => nodePools.includes(pool));
  const zones = await zonesOf(context, record);
  const found = nodeToStart(pods, offersOf(pools, zones, machine()), new Set(served.keys()));
  const number = freeNode(record);
  // No room on the machine until another node is gone, as where AWS has no capacity.
  if (found === undefined || number === undefined || nodeRoleArn === undefined) return;
  if (!(await mayStart(context, record.cluster.roleArn))) return;
  for (const { metadata } of found.pods) served.set(metadata?.uid ?? "", now);
  await context.store.change(cluster, (stored) => {
    stored.autoNodes = [...stored.autoNodes, nodeOf(context, stored, number, found.offer)];
  });
  context.wake(cluster);
}

const nodeOf = ({ clusters }: NodesContext, record: ClusterRecord, number: number, offer: Offer): AutoNodeRecord => ({
  number,
  name: clusters.of(record.cluster.name).nodeName(record.number, number),
  instanceId: newInstanceId(),
  zone: offer.labels["topology.kubernetes.io/zone"] ?? "",
  version: record.cluster.version,
  instanceType: offer.instanceType,
  labels: ownLabels(offer),
  taints: [...offer.taints],
});

/** Whether the role of a control plane has what starting nodes takes; without it pods stay pending, as on EKS. */
async function mayStart({ aws }: NodesContext, roleArn: string): Promise<boolean> {
  const attached = await aws.attachedPolicies(roleArn.split("/").at(-1) ?? "");
  return POLICIES.every((policy) => attached.includes(policy));
}

/** The zones of the subnets of the control plane, in which the NodeClass of EKS' own pools has its nodes (aws-cdk#33771). */
async function zonesOf({ aws }: NodesContext, { cluster, autoNodes }: ClusterRecord): Promise<string[]> {
  const subnets = await aws.subnets(cluster.resourcesVpcConfig.subnetIds ?? []);
  const zones = [...new Set(subnets.map(({ zone }) => zone))].sort();
  // The next node goes where the fewest are.
  const count = (zone: string) => autoNodes.filter((node) => node.zone === zone).length;
  return zones.sort((a, b) => count(a) - count(b));
}

function servedOf({ startedNodes }: NodesContext): Map<string, number> {
  const served = servedPods.get(startedNodes) ?? new Map<string, number>();
  servedPods.set(startedNodes, served);
  return served;
}

const machine = () => ({ cpu: cpus().length, memory: totalmem() });
