import { NETWORK_POLICY_USER } from "../../../clusters/index.ts";
import { enforcesNetworkPolicies } from "../addons.ts";
import { binding, clusterRole } from "../cluster-objects/rbac.ts";
import type { EksContext } from "../operation.ts";
import type { KubeApi } from "../runtime.ts";
import type { StartedNodes } from "./nodegroup-nodes.ts";

/** What this process has told nodes, by their instance: whether they enforce NetworkPolicies. */
export type Enforcement = Map<string, boolean>;

type Work = EksContext & { readonly startedNodes: StartedNodes; readonly enforcement: Enforcement };

/** Has all started nodes of a cluster enforce its NetworkPolicies, or none, as its VPC CNI add-on says. */
export async function networkPolicyStep(context: Work, name: string, kube: KubeApi): Promise<void> {
  const record = context.store.get(name);
  const enforced = enforcesNetworkPolicies(record);
  const nodes = Object.values(record.nodegroups)
    .flatMap((group) => group.nodes)
    .filter(({ number }) => context.startedNodes.has(`${name}/${number}`))
    .filter(({ instanceId }) => context.enforcement.get(instanceId) !== enforced);
  if (nodes.length === 0) return;
  if (enforced) await kube.apply(access);
  await Promise.all(
    nodes.map(async ({ number, instanceId }) => {
      await context.clusters.of(name).enforceNetworkPolicies(number, enforced);
      context.enforcement.set(instanceId, enforced);
    }),
  );
  if (!enforced) await kube.remove(access);
}

const READ = ["list", "watch"];
const metadata = { name: NETWORK_POLICY_USER };

/** The rights of what enforces NetworkPolicies on the nodes: to read what the rules follow from, and no more. */
const access = [
  clusterRole(metadata, [
    { apiGroups: [""], resources: ["pods", "namespaces"], verbs: READ },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: READ },
    { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
  ]),
  binding(metadata, NETWORK_POLICY_USER, { kind: "User", name: NETWORK_POLICY_USER }),
];
