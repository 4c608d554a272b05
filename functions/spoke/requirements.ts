import { labelKeys, networkLabel } from "../../lib/labels.ts";
import type { Spoke } from "./api.ts";
import type { Claim } from "./claims.ts";
import { objectName } from "./composer.ts";
import { type Hub, hubSecret } from "./hub.ts";
import { mustSeeChain } from "./hub-access.ts";
import { chainKinds, managedKinds, otherKinds } from "./kinds.ts";
import { regionsToRead } from "./network-choice.ts";
import { leavingTemplates } from "./node-groups.ts";
import type { Observed } from "./observed.ts";
import { argocdLeaves } from "./parts/argocd.ts";
import { isDeleting } from "./parts/guard.ts";
import { leavesPodIdentity } from "./pod-identity.ts";
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
export const claimsPrefix = "claims-";
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

/** What has been fetched, by which is decided what else is needed. */
export interface Fetched {
  readonly hub: Hub;
  /** By region (`claims.ts`). */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

/** Claims on the networks around the one that the Spoke names, or around free blocks of the hub's pool. */
function claimSelectors(spoke: Spoke, { hub, claims }: Fetched): Record<string, Selector> {
  const { namespace } = spoke.metadata;
  return Object.fromEntries(
    regionsToRead({ spoke, hub, claims }).map((region) => [
      `${claimsPrefix}${region}`,
      { apiVersion: otherKinds.ConfigMap, kind: "ConfigMap", namespace, matchLabels: { [networkLabel]: region } },
    ]),
  );
}

/** The Kustomization that writes the spoke's Argo CD cluster secret. */
const argocdSelector = ({ metadata: { name, namespace } }: Spoke): Record<string, Selector> => ({
  [`${remainsPrefix}argocd`]: {
    apiVersion: otherKinds.Kustomization,
    kind: "Kustomization",
    namespace,
    matchName: objectName(name, resources.argocdCluster.key),
  },
});

/**
 * What the function needs besides the Spoke and its resources: claims of other Spokes only until the network exists, where the fleet makes
 * it, the chain's objects while it is not ready and once for each revision, what writes Argo CD's cluster secret while Argo CD leaves the
 * spoke, node groups while one leaves, associations of EKS Pod Identity while these do, everything labelled only during a removal. Nothing of
 * it grows with the fleet.
 * `fetched` is undefined until the hub's cluster secret was fetched.
 */
export function requirements(
  spoke: Spoke,
  observed: Observed,
  settings: Settings,
  fetched?: Fetched,
): Readonly<Record<string, Selector>> {
  const hub: Selector = {
    apiVersion: "v1",
    kind: "Secret",
    matchName: hubSecret.name,
    namespace: hubSecret.namespace,
  };
  if (isDeleting(spoke)) return { hub, ...labelled(kindsOfSpoke(settings, observed), remainsPrefix, spoke) };
  return {
    hub,
    ...(observed.has(resources.vpc) || fetched === undefined || spoke.spec.network.existing !== undefined
      ? {}
      : claimSelectors(spoke, fetched)),
    ...(observed.has(resources.bootstrap) && mustSeeChain(spoke, observed)
      ? labelled(chainKinds, chainPrefix, spoke)
      : {}),
    ...(fetched !== undefined && argocdLeaves({ hub: fetched.hub, observed, settings, spoke })
      ? argocdSelector(spoke)
      : {}),
    ...(leavesPodIdentity({ observed, settings, spoke })
      ? labelled({ PodIdentityAssociation: managedKinds.PodIdentityAssociation }, remainsPrefix, spoke)
      : {}),
    ...(leavingTemplates({ observed, spoke }).length > 0
      ? labelled({ NodeGroup: managedKinds.NodeGroup }, remainsPrefix, spoke)
      : {}),
  };
}
