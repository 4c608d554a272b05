import type { KubernetesObject } from "@kubernetes/client-node";
import { NETWORK_POLICY_USER } from "../../../clusters/index.ts";
import { enforcesNetworkPolicies } from "../addons.ts";
import { isAuto } from "../auto-mode.ts";
import { binding, clusterRole } from "../cluster-objects/rbac.ts";
import type { KubeApi } from "../runtime.ts";
import { type NodesContext, startedNodesOf } from "./nodegroup-nodes.ts";

/** Turns the enforcement of NetworkPolicies on or off on all started nodes of a cluster, as its VPC CNI add-on says. */
export async function networkPolicyStep(context: NodesContext, name: string, kube: KubeApi): Promise<void> {
  const record = context.store.get(name);
  const enforced = isAuto(record.cluster) ? await isTurnedOn(kube) : enforcesNetworkPolicies(record);
  const nodes = startedNodesOf(context, record).filter(({ started }) => started.enforced !== enforced);
  if (nodes.length === 0) return;
  if (enforced) await kube.apply(access);
  await Promise.all(
    nodes.map(async ({ number, started }) => {
      await context.clusters.of(name).enforceNetworkPolicies(number, enforced);
      started.enforced = enforced;
    }),
  );
  if (!enforced) await kube.remove(access);
}

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Whether a cluster with EKS Auto Mode enforces them (EKS User Guide, "Use Network Policies with EKS Auto Mode"). */
async function isTurnedOn(kube: KubeApi): Promise<boolean> {
  const found = await kube.find<ConfigMap>("v1", "ConfigMap", "amazon-vpc-cni", "kube-system");
  return found?.data?.["enable-network-policy-controller"] === "true";
}

const READ = ["list", "watch"];
const metadata = { name: NETWORK_POLICY_USER };

/** The rights of the process that enforces NetworkPolicies on nodes: to read what the rules follow from, and no more. */
const access = [
  clusterRole(metadata, [
    { apiGroups: [""], resources: ["pods", "namespaces"], verbs: READ },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: READ },
    { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
  ]),
  binding(metadata, NETWORK_POLICY_USER, { kind: "User", name: NETWORK_POLICY_USER }),
];
