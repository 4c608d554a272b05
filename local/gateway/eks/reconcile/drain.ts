import type { KubernetesObject } from "@kubernetes/client-node";
import type { Nodegroup, NodeRecord } from "../model.ts";
import type { KubeApi } from "../runtime.ts";

/** How long the pods of a node may take to leave it before EKS goes on without them (seconds). */
export const DRAIN_SECONDS = {
  /** An update then fails, or with `force` deletes them (EKS User Guide, "Understand each phase of node updates"). */
  update: 15 * 60,
  /** The node is then terminated all the same (EKS User Guide, "Simplify node lifecycle with managed node groups", concepts). */
  scaleDown: 15 * 60,
  /** Likewise ("Delete a managed node group from your cluster"). */
  deletion: 5 * 60,
} as const;

interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName?: string };
}

/**
 * Asks the API server to evict the pods of nodes, as `kubectl drain` does: all but those of DaemonSets and of the kubelet's own
 * files. Gives the names of nodes that still have some. One look: budgets may let more go later.
 */
export async function evictFrom(kube: KubeApi, nodes: readonly string[]): Promise<Set<string>> {
  const pods = (await kube.list<Pod>("v1", "Pod")).filter((pod) => {
    const { annotations = {}, ownerReferences = [] } = pod.metadata ?? {};
    const stays =
      annotations["kubernetes.io/config.mirror"] !== undefined ||
      ownerReferences.some(({ kind, controller }) => controller === true && kind === "DaemonSet");
    return nodes.includes(pod.spec?.nodeName ?? "") && !stays;
  });
  for (const { metadata } of pods)
    if (metadata?.deletionTimestamp === undefined) await kube.evict(metadata?.namespace ?? "", metadata?.name ?? "");
  return new Set(pods.map((pod) => pod.spec?.nodeName ?? ""));
}

/** Has nodes take no new pods, and in an update no more traffic of load balancers ("Understand each phase of node updates"). */
export async function cordon(
  kube: KubeApi,
  nodegroup: Nodegroup,
  nodes: readonly NodeRecord[],
  isUpdate: boolean,
): Promise<void> {
  const labels = isUpdate ? { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } : {};
  // Applying would make the Node of one that never started.
  const there = new Set((await kube.list("v1", "Node")).map(({ metadata }) => metadata?.name));
  await kube.apply(
    nodes
      .filter(({ name }) => there.has(name))
      .map((node) => ({ ...labelled(nodegroup, node, labels), spec: { unschedulable: true } })),
  );
}

/** The node with the group's labels. EKS being its field manager, it takes pods again if it did not. */
export const labelled = (
  { labels }: Nodegroup,
  { name }: NodeRecord,
  more: Readonly<Record<string, string>> = {},
): KubernetesObject => ({ apiVersion: "v1", kind: "Node", metadata: { name, labels: { ...labels, ...more } } });
