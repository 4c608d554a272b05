import { COREDNS } from "../addon-catalog.ts";
import { isAuto } from "../auto-mode.ts";
import { coreDnsObjects } from "../cluster-objects/coredns.ts";
import type { KubeApi } from "../runtime.ts";
import type { ReconcileContext } from "./context.ts";

/**
 * Gives a cluster with EKS Auto Mode its names: on EKS a process of each node, here a DaemonSet, which keeps no node either. The add-on
 * coredns, where a cluster has it beside, is enough.
 */
export async function autoSoftwareStep(context: ReconcileContext, name: string, kube: KubeApi): Promise<void> {
  const { cluster, addons, number } = context.store.get(name);
  if (!isAuto(cluster) || addons[COREDNS] !== undefined) return;
  if ((await kube.find("apps/v1", "DaemonSet", COREDNS, "kube-system")) !== undefined) return;
  const { dnsAddress } = context.clusters.of(name).addresses(number);
  const { gatewayAddress } = context;
  await kube.apply(coreDnsObjects({ dnsAddress, gatewayAddress, values: {}, onEachNode: true }));
}
