import type { KubernetesObject } from "@kubernetes/client-node";
import type { Nodegroup, NodeRecord } from "../model.ts";
import type { KubeApi } from "../runtime.ts";

/** How long EKS waits for the pods of a node to leave it (seconds). */
export const DRAIN_SECONDS = {
  /** The update then fails, or with `force` deletes the pods (EKS User Guide, "Understand each phase of node updates"). */
  update: 15 * 60,
  /** The node is then terminated all the same (EKS User Guide, "Simplify node lifecycle with managed node groups", concepts). */
  scaleDown: 15 * 60,
  /** Likewise ("Delete a managed node group from your cluster"). */
  deletion: 5 * 60,
} as const;

/** Whether a pod comes and goes with its node: one of a DaemonSet, or of the kubelet's own files. */
export const isOfNode = ({ metadata: { annotations = {}, ownerReferences = [] } = {} }: KubernetesObject): boolean =>
  annotations["kubernetes.io/config.mirror"] !== undefined ||
  ownerReferences.some(({ kind, controller }) => controller === true && kind === "DaemonSet");

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}

/**
 * Asks the API server to evict the pods of nodes, as `kubectl drain` does: all but those of DaemonSets and of the kubelet's own
 * files. Gives the names of nodes that still have pods. Called again and again: budgets may let more pods go later.
 */
export async function evictFrom(kube: KubeApi, nodes: readonly string[]): Promise<Set<string>> {
  const pods = (await kube.list<Pod>("v1", "Pod")).filter(
    (pod) => nodes.includes(pod.spec?.nodeName ?? "") && !isOfNode(pod),
  );
  for (const { metadata } of pods)
    if (metadata?.deletionTimestamp === undefined) await kube.evict(metadata?.namespace ?? "", metadata?.name ?? "");
  return new Set(pods.map((pod) => pod.spec?.nodeName ?? ""));
}

/** Marks nodes as unschedulable; in an update they also leave the load balancers ("Understand each phase of node updates"). */
export async function cordon(
  kube: KubeApi,
  nodegroup: Nodegroup,
  nodes: readonly NodeRecord[],
  isUpdate: boolean,
): Promise<void> {
  const labels = isUpdate ? { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } : {};
  // Applying would create the Node object of a node that never started.
  const there = new Set((await kube.list("v1", "Node")).map(({ metadata }) => metadata?.name));
  await kube.apply(
    nodes
      .filter(({ name }) => there.has(name))
      .map((node) => ({ ...labelled(nodegroup, node, labels), spec: { unschedulable: true } })),
  );
}

/** The Node with the group's labels. Applied as field manager eks, it also makes a cordoned node schedulable again. */
export const labelled = (
  { labels }: Nodegroup,
  { name }: NodeRecord,
  more: Readonly<Record<string, string>> = {},
): KubernetesObject => ({ apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...labels, ...more } } });
