import type { KubernetesObject, V1Affinity, V1Toleration } from "@kubernetes/client-node";
import type { Taint } from "../../clusters/node-config.ts";
import { quantity } from "./quantity.ts";
import { isOfNode } from "./reconcile/drain.ts";

/**
 * Which node EKS Auto Mode starts for pods that fit nowhere, and which it takes back: no Karpenter, whose scheduling simulation it
 * stands in for by one node at a time. Everything here follows from its arguments.
 */

export interface Pod extends KubernetesObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly affinity?: V1Affinity;
    readonly tolerations?: readonly V1Toleration[];
    readonly schedulingGates?: readonly unknown[];
    readonly containers?: readonly { readonly resources?: { readonly requests?: Readonly<Record<string, string>> } }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

/** CPUs and bytes of memory. */
export interface Room {
  readonly cpu: number;
  readonly memory: number;
}

/** A node that could be started. */
export interface Offer extends Room {
  readonly pool: string;
  readonly instanceType: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/** What a pod requests. */
function requestsOf({ spec }: Pod): Room {
  const all = (spec?.containers ?? []).map(({ resources }) => resources?.requests ?? {});
  const sum = (name: string) => all.reduce((total, requests) => total + quantity(requests[name]), 0);
  return { cpu: sum("cpu"), memory: sum("memory") };
}

/** Whether a pod keeps its node: not one of a DaemonSet or of the kubelet's own files, nor one that has ended. */
export const keepsNode = (pod: Pod): boolean =>
  !isOfNode(pod) && !["Succeeded", "Failed"].includes(pod.status?.phase ?? "");

/** Whether the scheduler found no node for a pod. */
export const isUnschedulable = (pod: Pod): boolean =>
  pod.spec?.nodeName === undefined &&
  pod.metadata?.deletionTimestamp === undefined &&
  (pod.spec?.schedulingGates ?? []).length === 0 &&
  !isOfNode(pod) &&
  (pod.status?.conditions ?? []).some(
    ({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable",
  );

const tolerates = (tolerations: readonly V1Toleration[], { key, value = "", effect }: Taint): boolean =>
  effect === "PreferNoSchedule" ||
  tolerations.some(
    (each) =>
      (each.key === undefined || each.key === key) &&
      (each.operator === "Exists" || (each.value ?? "") === value) &&
      (each.effect === undefined || each.effect === effect),
  );

/** What a term of a node affinity asks of one label. Operators that it does not know hold for no node. */
function holds(
  { key, operator, values = [] }: { key: string; operator: string; values?: string[] },
  labels: Offer["labels"],
): boolean {
  const value = labels[key];
  if (operator === "In") return value !== undefined && values.includes(value);
  if (operator === "NotIn") return value === undefined || !values.includes(value);
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  if (operator === "Gt") return Number(value) > Number(values[0]);
  if (operator === "Lt") return Number(value) < Number(values[0]);
  return false;
}

function selects({ spec }: Pod, labels: Offer["labels"]): boolean {
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const affine =
    terms === undefined ||
    terms.some(({ matchExpressions }) => (matchExpressions ?? []).every((each) => holds(each, labels)));
  return selected && affine;
}

/** Whether a pod could run on a node that has nothing else. */
export function fits(pod: Pod, offer: Offer): boolean {
  const { cpu, memory } = requestsOf(pod);
  return (
    cpu <= offer.cpu &&
    memory <= offer.memory &&
    selects(pod, offer.labels) &&
    offer.taints.every((taint) => tolerates([...(pod.spec?.tolerations ?? [])], taint))
  );
}

/**
 * The node to start: the first offer that takes the oldest pod that some offer takes; undefined where no node helps.
 * @param offers in order of preference
 * @param served UIDs of pods for which a node was started already and that still fit nowhere: another one would not help either
 */
export function nodeToStart(
  pods: readonly Pod[],
  offers: readonly Offer[],
  served: ReadonlySet<string>,
): { readonly offer: Offer; readonly pods: readonly Pod[] } | undefined {
  const waiting = pods
    .filter((pod) => isUnschedulable(pod) && !served.has(pod.metadata?.uid ?? ""))
    .sort(
      (a, b) =>
        Number(new Date(a.metadata?.creationTimestamp ?? 0)) - Number(new Date(b.metadata?.creationTimestamp ?? 0)),
    );
  for (const pod of waiting) {
    const offer = offers.find((each) => fits(pod, each));
    if (offer === undefined) continue;
    // Those that go there too, one after the other.
    let { cpu, memory } = offer;
    const taken = waiting.filter((other) => {
      const asked = requestsOf(other);
      if (!fits(other, offer) || asked.cpu > cpu || asked.memory > memory) return false;
      cpu -= asked.cpu;
      memory -= asked.memory;
      return true;
    });
    return { offer, pods: taken };
  }
  return undefined;
}

/** Names of the nodes on which no pod is left that keeps them. */
export function emptyNodes(pods: readonly Pod[], nodes: readonly string[]): string[] {
  const kept = new Set(pods.filter(keepsNode).map(({ spec }) => spec?.nodeName));
  return nodes.filter((name) => !kept.has(name));
}
