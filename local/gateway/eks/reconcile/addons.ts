import type { KubernetesObject } from "@kubernetes/client-node";
import { catalogEntry } from "../addon-catalog.ts";
import { configuration } from "../addons.ts";
import { coreDnsObjects } from "../cluster-objects/coredns.ts";
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
  const entry = catalogEntry(addon.addonName);
  if (addon.status === "DELETING") {
    if (entry.installed && !record.selfManagedAddons) await kube.remove(coreDns(context, record, addon).reverse());
    await context.store.change(name, (stored) => {
      delete stored.addons[addon.addonName];
    });
    return undefined;
  }
  if (addon.status === "ACTIVE") return undefined;
  if (entry.installed && addon.status !== "DEGRADED") await kube.apply(coreDns(context, record, addon));
  const missing = entry.installed ? await missingReplicas(kube) : undefined;
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

/** The objects of CoreDNS as the add-on configures it, or the cluster's own when there is no add-on. */
export function coreDns({ clusters, gatewayAddress }: ReconcileContext, record: ClusterRecord, addon?: Addon) {
  const { dnsAddress } = clusters.of(record.cluster.name).addresses(record.number);
  const values = addon === undefined ? {} : configuration(catalogEntry(addon.addonName), addon.configurationValues);
  return coreDnsObjects({ dnsAddress, gatewayAddress, values });
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
