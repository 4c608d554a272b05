import type { KubernetesObject } from "@kubernetes/client-node";
import { COREDNS, catalogEntry } from "../addon-catalog.ts";
import { configuration } from "../addons.ts";
import { coreDnsObjects } from "../cluster-objects/coredns.ts";
import { nodeDaemonSet } from "../cluster-objects/node-software.ts";
import type { Addon, ClusterRecord } from "../model.ts";
import type { KubeApi } from "../runtime.ts";
import { endUpdates, unknownError } from "../updates.ts";
import { type Again, type ReconcileContext, soonest } from "./context.ts";

/** How often an add-on that is not ACTIVE yet is checked (milliseconds). */
const POLL_MS = 500;
/** When its pods are not Ready after this time, an add-on becomes DEGRADED, as on EKS (seconds). */
const READY_SECONDS = 120;

interface Deployment extends KubernetesObject {
  spec?: { replicas?: number };
  status?: { readyReplicas?: number; updatedReplicas?: number; observedGeneration?: number };
}

/** Installs, watches and removes the add-ons of a cluster. */
export async function addonsStep(context: ReconcileContext, name: string, kube: KubeApi): Promise<Again> {
  const delays: Again[] = [];
  for (const addon of Object.values(context.store.get(name).addons))
    delays.push(await oneAddon(context, name, addon, kube));
  return soonest(delays);
}

async function oneAddon(context: ReconcileContext, name: string, addon: Addon, kube: KubeApi): Promise<Again> {
  const record = context.store.get(name);
  if (addon.status === "DELETING") {
    if (record.preserved[addon.addonName] === undefined)
      await kube.remove(addonObjects(context, record, addon).reverse());
    await context.store.change(name, (stored) => {
      delete stored.addons[addon.addonName];
    });
    return undefined;
  }
  if (addon.status === "ACTIVE") return undefined;
  if (addon.status !== "DEGRADED") await kube.apply(addonObjects(context, record, addon));
  const missing = addon.addonName === COREDNS ? await missingReplicas(kube) : undefined;
  await context.store.change(name, (stored) => settle(stored, addon.addonName, missing, context.now()));
  return missing === undefined ? undefined : POLL_MS;
}

function settle(record: ClusterRecord, addonName: string, missing: string | undefined, now: number): void {
  const addon = record.addons[addonName];
  if (addon === undefined || addon.status === "DELETING") return;
  if (missing === undefined) {
    addon.status = "ACTIVE";
    addon.health = { issues: [] };
    endUpdates(record, { addonName });
  } else if (now - (addon.modifiedAt ?? 0) >= READY_SECONDS && addon.status !== "DEGRADED") {
    addon.status = "DEGRADED";
    addon.health = { issues: [{ code: "InsufficientNumberOfReplicas", message: missing, resourceIds: [] }] };
    endUpdates(record, { addonName }, unknownError(missing));
  }
}

/** What an add-on, or its software without it, has in the cluster. */
export function addonObjects(
  { clusters, gatewayAddress }: ReconcileContext,
  record: ClusterRecord,
  { addonName, configurationValues }: Pick<Addon, "addonName" | "configurationValues">,
): KubernetesObject[] {
  const entry = catalogEntry(addonName);
  if (entry.daemonSet !== undefined) return [nodeDaemonSet(entry.daemonSet)];
  if (addonName !== COREDNS) return [];
  const { dnsAddress } = clusters.of(record.cluster.name).addresses(record.number);
  return coreDnsObjects({ dnsAddress, gatewayAddress, values: configuration(entry, configurationValues) });
}

/** Why CoreDNS is not healthy, or undefined when all its pods are up to date and Ready. */
async function missingReplicas(kube: KubeApi): Promise<string | undefined> {
  const deployment = await kube.find<Deployment>("apps/v1", "Deployment", "coredns", "kube-system");
  const wanted = deployment?.spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0, observedGeneration = 0 } = deployment?.status ?? {};
  if (
    observedGeneration >= (deployment?.metadata?.generation ?? 1) &&
    readyReplicas >= wanted &&
    updatedReplicas >= wanted
  )
    return undefined;
  return `The add-on is unhealthy because it doesn't have the desired number of replicas: ${readyReplicas} of ${wanted} are Ready`;
}
