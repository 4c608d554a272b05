import { enforcesNetworkPolicies } from "../addons.ts";
import { networkPolicyAccess } from "../cluster-objects/network-policy.ts";
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
  if (enforced) await kube.apply(networkPolicyAccess());
  await Promise.all(
    nodes.map(async ({ number, instanceId }) => {
      await context.runtime.enforceNetworkPolicies(name, number, enforced);
      context.enforcement.set(instanceId, enforced);
    }),
  );
  if (!enforced) await kube.remove(networkPolicyAccess());
}
