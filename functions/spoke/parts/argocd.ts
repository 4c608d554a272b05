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
import { composeEntry, composeGrant } from "./access.ts";
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

/**
 * Argo CD on the hub, where the stack gives it a role for spokes and the Composition namespaces on them: its access, and the cluster secret
 * by which it knows the spoke. The secret has the name of a role and no credential.
 */
export function composeArgocd(context: Context): void {
  const { composer, facts, hub, settings, spoke } = context;
  const identity = hub.identities[argocdIdentity];
  if (identity === undefined || settings.argocd === undefined) return;
  const roleArn = arns(hub.aws).role(fleetNames(hub.fleet).argocdSpokesRole);
  const rights = { entry: resources.argocdEntry, arn: roleArn };
  composeEntry(context, rights);
  composeGrant(context, {
    ...rights,
    resource: resources.argocdPolicy,
    policy: teamAccessPolicies.edit,
    namespaces: settings.argocd.namespaces,
  });
  const { endpoint, certificateAuthority } = controlPlaneFacts(context);
  const needs = { ...spokeFacts(context), endpoint, certificateAuthority, access: facts.ready(resources.argocdPolicy) };
  composer.object(resources.argocdCluster, needs, ({ endpoint, certificateAuthority, access: _, ...known }) =>
    clusterKustomization(
      composer.objectName(resources.argocdCluster),
      identity.namespace,
      secretPatches(
        metadataOf(context, known),
        { kind: "role", roleArn, endpoint, certificateAuthority, ...settings.argocd },
        spoke.spec.ring,
      ),
    ),
  );
}
