import { type ArgocdAccess, argocdClusterSecret, argocdIdentity } from "../../../lib/argocd.ts";
import { type ClusterMetadata, clusterSecretName, inBase64 } from "../../../lib/bridge.ts";
import { arns } from "../../../lib/iam/policy.ts";
import { argocdClusterFolder, chainArtifact } from "../../../lib/layout.ts";
import { fleetNames, namespaces } from "../../../lib/names.ts";
import type { Context } from "../context.ts";
import { otherKinds } from "../kinds.ts";
import type { KubeObject } from "../kube.ts";
import { patchOf } from "../patches.ts";
import { resources } from "../resources.ts";
import { teamAccessPolicies } from "../teams.ts";
import { composeEntry, composeGrant, grantReady } from "./access.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { metadataOf, spokeFacts } from "./handover.ts";

/** Patches of the Secret in Git, which is empty. */
function secretPatches(metadata: ClusterMetadata, access: ArgocdAccess, ring: string | undefined): object[] {
  const { labels, annotations, data } = argocdClusterSecret(metadata, access, ring);
  const values = {
    "/metadata/name": clusterSecretName(metadata.name),
    "/metadata/labels": labels,
    "/metadata/annotations": annotations,
    "/data": inBase64(data),
  };
  return [patchOf({ kind: "Secret" }, ...Object.entries(values).map(([path, value]) => ({ op: "add", path, value })))];
}

/**
 * The spoke's Argo CD cluster secret on the hub. Flux writes it: Crossplane composes what is in the Spoke's own namespace only, and Argo CD
 * reads what is in its own.
 */
function clusterKustomization(name: string, namespace: string, patches: object[]): KubeObject {
  return {
    apiVersion: otherKinds.Kustomization,
    kind: "Kustomization",
    metadata: { name },
    spec: {
      sourceRef: { kind: "ExternalArtifact", name: chainArtifact, namespace: namespaces.flux },
      path: `./${argocdClusterFolder}`,
      targetNamespace: namespace,
      interval: "10m",
      retryInterval: "30s",
      timeout: "5m",
      prune: true,
      wait: true,
      deletionPolicy: "WaitForTermination",
      patches,
    },
  };
}

/** What lets Argo CD into the spoke. */
const access = [resources.argocdEntry, resources.argocdPolicy] as const;

/** What decides on Argo CD: the stack gives it a role for spokes, the Composition namespaces on them. */
const chosen = ({ hub, settings }: Pick<Context, "hub" | "settings">) => {
  const identity = hub.identities[argocdIdentity];
  return identity && settings.argocd && { identity, argocd: settings.argocd };
};

/** Whether Argo CD has access to the spoke, and is to have none any more. */
export const argocdLeaves = (context: Pick<Context, "hub" | "observed" | "settings">): boolean =>
  chosen(context) === undefined && access.some((resource) => context.observed.has(resource));

/**
 * Argo CD on the hub, where it is chosen: its access, and the cluster secret by which it knows the spoke. The secret has the name of a role
 * and no credential. Argo CD looks only once at what it may not list, and then leaves it out for hours (gitops-engine, clusterCache), so
 * the secret comes after the access, is told of namespaces after the access, and goes before it.
 */
export function composeArgocd(context: Context): void {
  const { composer, hub, labelled, spoke } = context;
  const wanted = chosen(context);
  if (wanted === undefined) {
    // Crossplane forgets the Kustomization before it is gone.
    const name = composer.objectName(resources.argocdCluster);
    const isTold = labelled.some(({ kind, metadata }) => kind === "Kustomization" && metadata.name === name);
    if (isTold) for (const resource of access) composer.keep(resource);
    return;
  }
  const { identity, argocd } = wanted;
  const roleArn = arns(hub.aws).role(fleetNames(hub.fleet).argocdSpokesRole);
  const rights = { entry: resources.argocdEntry, arn: roleArn };
  const grant = { resource: resources.argocdPolicy, namespaces: argocd.namespaces };
  composeEntry(context, rights);
  composeGrant(context, { ...rights, ...grant, policy: teamAccessPolicies.edit });
  const { endpoint, certificateAuthority } = controlPlaneFacts(context);
  const needs = { ...spokeFacts(context), endpoint, certificateAuthority, access: grantReady(context, grant) };
  composer.object(resources.argocdCluster, needs, ({ endpoint, certificateAuthority, access: _, ...known }) =>
    clusterKustomization(
      composer.objectName(resources.argocdCluster),
      identity.namespace,
      secretPatches(
        metadataOf(context, known),
        { kind: "role", roleArn, endpoint, certificateAuthority, ...argocd },
        spoke.spec.ring,
      ),
    ),
  );
}
