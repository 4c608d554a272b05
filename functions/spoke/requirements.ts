import { labelKeys } from "../../lib/labels.ts";
import { spokeApi } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import { hubSecret } from "./hub.ts";
import { mustSeeChain } from "./hub-access.ts";
import { chainKinds, managedKinds, otherKinds } from "./kinds.ts";
import type { Observed } from "./observed.ts";
import { isDeleting } from "./parts/guard.ts";
import { resources } from "./resources.ts";
import type { Settings } from "./settings.ts";

/** Objects that the function requires Crossplane to fetch: one by name, those with all labels, or all of a kind. */
export interface Selector {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly matchName?: string;
  readonly matchLabels?: Readonly<Record<string, string>>;
}

/** Prefixes of the names under which Crossplane passes the objects. */
export const chainPrefix = "chain-";
export const remainsPrefix = "remains-";

function labelled(kinds: Readonly<Record<string, string>>, prefix: string, spoke: Spoke): Record<string, Selector> {
  const { name, namespace } = spoke.metadata;
  return Object.fromEntries(
    Object.entries(kinds).map(([kind, apiVersion]) => [
      `${prefix}${kind}`,
      { apiVersion, kind, namespace, matchLabels: { [labelKeys.cluster]: name } },
    ]),
  );
}

/** All kinds of objects that belong to a spoke. The kubeconfig variant's own kind is installed only where that variant is in use. */
function kindsOfSpoke({ kubeConfig }: Settings, observed: Observed): Record<string, string> {
  const { ClusterAuth, Usage: _, ...common } = { ...managedKinds, ...otherKinds, ...chainKinds };
  return kubeConfig === "secret" || observed.has(resources.clusterAuth) ? { ...common, ClusterAuth } : common;
}

/**
 * What the function needs besides the Spoke and its resources: the other Spokes only until the network exists, the chain's objects while
 * it is not ready and once for each revision, everything labelled only during a removal: a spoke that runs costs the same in any fleet.
 */
export function requirements(spoke: Spoke, observed: Observed, settings: Settings): Readonly<Record<string, Selector>> {
  const hub: Selector = {
    apiVersion: "v1",
    kind: "Secret",
    matchName: hubSecret.name,
    namespace: hubSecret.namespace,
  };
  if (isDeleting(spoke)) return { hub, ...labelled(kindsOfSpoke(settings, observed), remainsPrefix, spoke) };
  return {
    hub,
    ...(observed.has(resources.vpc) ? {} : { spokes: { apiVersion: spokeApi.apiVersion, kind: spokeApi.kind } }),
    ...(observed.has(resources.bootstrap) && mustSeeChain(spoke, observed)
      ? labelled(chainKinds, chainPrefix, spoke)
      : {}),
  };
}
