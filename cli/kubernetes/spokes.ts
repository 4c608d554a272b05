import type { Spoke } from "../../functions/spoke/api.ts";
import { managedKinds } from "../../functions/spoke/kinds.ts";
import { type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import type { ClusterAccess } from "../../lib/kubeconfig.ts";
import { labelKeys } from "../../lib/labels.ts";
import { namespaces } from "../../lib/names.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { closest } from "../closest.ts";
import { UsageError } from "../usage.ts";
import { type Api, type Kind, kindsOf, listed } from "./api.ts";

/** The EKS clusters on the hub: only they have the CA of an API server in both kubeconfig variants of the Composition. */
export const clusterKind = {
  apiVersion: managedKinds.Cluster,
  plural: "clusters",
  namespace: namespaces.spokes,
} as const satisfies Kind;

/** What a client needs to know of a spoke; the reason why that is not known yet. */
export function accessOf(spoke: Spoke, clusters: readonly KubeObject[]): ClusterAccess | string {
  const own = clusters.find(({ metadata }) => metadata.labels?.[labelKeys.cluster] === spoke.metadata.name);
  const name = spoke.status?.cluster?.name;
  const endpoint = textAt(own?.status, "atProvider", "endpoint") ?? spoke.status?.cluster?.endpoint;
  const certificateAuthority = textAt(own?.status, "atProvider", "certificateAuthority", 0, "data");
  if (name === undefined || endpoint === undefined || certificateAuthority === undefined)
    return "its API server is not there yet";
  // The caller's token is signed for this name and sent to the hub's endpoint: the hub must not collect tokens for other clusters.
  const expected = `-spoke-${spoke.metadata.name}`;
  if (!name.endsWith(expected))
    return `the hub names ${name} as its EKS cluster, which must be <fleet>${expected}; look at the Spoke's status on the hub`;
  return { name, region: spoke.spec.region, endpoint, certificateAuthority };
}

/** The Spokes of a hub, by name. */
export async function spokesOf(hub: Api): Promise<Spoke[]> {
  const spokes = (await hub.list(spokeApi)) as KubeObject[] as Spoke[];
  return spokes.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}

/** The Spoke of a name. @throws UsageError with the names that there are */
export async function findSpoke(hub: Api, name: string): Promise<Spoke> {
  const found = await hub.find(spokeApi, name);
  if (found !== undefined) return found as Spoke;
  const names = (await spokesOf(hub)).map(({ metadata }) => metadata.name);
  const similar = closest(name, names);
  throw new UsageError(
    `the hub has no spoke ${name}${similar === undefined ? "" : `; did you mean ${similar}?`}\n` +
      `It has ${names.join(", ") || "none"}. --context NAME chooses another hub`,
  );
}

/** What the hub makes a spoke of. @param kinds with their API versions */
export async function objectsOf(
  hub: Api,
  spoke: string,
  kinds: Readonly<Record<string, string>>,
): Promise<KubeObject[]> {
  const labelSelector = `${labelKeys.cluster}=${spoke}`;
  const all = kindsOf(kinds).map((kind) => ({ ...kind, namespace: namespaces.spokes }));
  return (await Promise.all(all.map((kind) => listed(hub, kind, { labelSelector })))).flat();
}

/** How a spoke is reached. @throws UsageError when it has no API server yet */
export async function requireAccess(hub: Api, spoke: Spoke): Promise<ClusterAccess> {
  const access = accessOf(
    spoke,
    await hub.list(clusterKind, { labelSelector: `${labelKeys.cluster}=${spoke.metadata.name}` }),
  );
  if (typeof access !== "string") return access;
  const says = spoke.status?.message === undefined ? "" : `. The Spoke says: ${spoke.status.message}`;
  throw new UsageError(`spoke ${spoke.metadata.name} can't be reached: ${access}${says}`);
}
