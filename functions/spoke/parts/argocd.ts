import { type ArgocdAccess, argocdClusterSecret, argocdPushTemplate } from "../../../lib/argocd.ts";
import { inBase64 } from "../../../lib/base64.ts";
import { clusterSecretName } from "../../../lib/bridge.ts";
import { argocdClusterFolder, argocdElsewhereFolder, chainArtifact } from "../../../lib/layout.ts";
import { fleetNames, namespaces } from "../../../lib/names.ts";
import { type ArgocdOfHub, argocdOf, placesOf } from "../argocd.ts";
import type { Context } from "../context.ts";
import { otherKinds } from "../kinds.ts";
import type { KubeObject } from "../kube.ts";
import { patchOf } from "../patches.ts";
import { resources } from "../resources.ts";
import { teamAccessPolicies } from "../teams.ts";
import { argocdPrincipal, composeEntry, composeGrant, grantReady } from "./access.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { metadataOf, spokeFacts } from "./handover.ts";

type Secret = ReturnType<typeof argocdClusterSecret>;

const additions = (kind: string, values: Readonly<Record<string, unknown>>): object =>
  patchOf({ kind }, ...Object.entries(values).map(([path, value]) => ({ op: "add", path, value })));

/** Patches of the Secret in Git, which is empty. */
const secretPatch = (name: string, { labels, annotations, data }: Secret): object =>
  additions("Secret", {
    "/metadata/name": name,
    "/metadata/labels": labels,
    "/metadata/annotations": annotations,
    "/data": inBase64(data),
  });

/**
 * Patches of the PushSecret in Git, by which the Secret goes to Secrets Manager. It says all that the Secret says: External Secrets looks at a
 * PushSecret that changes, and at its Secret only at its interval.
 */
const pushPatch = ({ hub, spoke, tags }: Context, name: string, secret: Secret): object =>
  additions("PushSecret", {
    "/metadata/name": name,
    "/spec/selector/secret/name": name,
    "/spec/data/0/match/remoteRef/remoteKey": fleetNames(hub.fleet).argocdSecret(spoke.metadata.name),
    "/spec/data/0/metadata/spec/tags": tags(),
    "/spec/template/data": argocdPushTemplate(secret),
  });

const pushHealth = {
  apiVersion: "external-secrets.io/v1alpha1",
  kind: "PushSecret",
  inProgress: "!has(status.conditions)",
  failed: "status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'False')",
  current: "status.conditions.exists(condition, condition.type == 'Ready' && condition.status == 'True')",
};

/**
 * The spoke's Argo CD cluster secret on the hub. Flux writes it: Crossplane composes what is in the Spoke's own namespace only, and Argo CD
 * reads what is in its own.
 */
function clusterKustomization(context: Context, { elsewhere, namespace }: Chosen, secret: Secret): KubeObject {
  const name = clusterSecretName(context.spoke.metadata.name);
  return {
    apiVersion: otherKinds.Kustomization,
    kind: "Kustomization",
    metadata: { name: context.composer.objectName(resources.argocdCluster) },
    spec: {
      sourceRef: { kind: "ExternalArtifact", name: chainArtifact, namespace: namespaces.flux },
      path: `./${elsewhere ? argocdElsewhereFolder : argocdClusterFolder}`,
      targetNamespace: namespace,
      interval: "10m",
      retryInterval: "30s",
      timeout: "5m",
      prune: true,
      wait: true,
      deletionPolicy: "WaitForTermination",
      ...(elsewhere && { healthCheckExprs: [pushHealth] }),
      patches: [secretPatch(name, secret), ...(elsewhere ? [pushPatch(context, name, secret)] : [])],
    },
  };
}

/** What lets Argo CD into the spoke. */
const access = [resources.argocdEntry, resources.argocdPolicy] as const;

type Known = Pick<Context, "hub" | "observed" | "settings" | "spoke">;

interface Chosen extends ArgocdOfHub {
  /** In which namespaces of spokes it has access. */
  readonly namespaces: readonly string[];
}

/**
 * What decides on Argo CD: the stack names a role for spokes, the Composition namespaces on them. An access entry can't pass to another role:
 * the access of the former one is taken back first, as if there were no Argo CD. A role that somebody else has on the spoke already gets no
 * second entry (argocdProblems).
 */
function chosen({ hub, observed, settings, spoke }: Known): Chosen | undefined {
  const argocd = argocdOf(hub);
  if (argocd === undefined || settings.argocd === undefined) return undefined;
  const { roleArn } = argocd;
  const former = argocdPrincipal(observed);
  if (former === undefined ? placesOf(spoke.spec, roleArn).length > 0 : former !== roleArn) return undefined;
  return { ...argocd, namespaces: settings.argocd.namespaces };
}

/** Whether Argo CD has access to the spoke, and is to have none any more. */
export const argocdLeaves = (context: Known): boolean =>
  chosen(context) === undefined && access.some((resource) => context.observed.has(resource));

/**
 * Argo CD on the hub or elsewhere, where it is chosen: its access, and the cluster secret by which it knows the spoke. The secret has the name
 * of a role and no credential. Argo CD looks only once at what it may not list, and then leaves it out for hours (gitops-engine,
 * clusterCache), so the secret comes after the access, is told of namespaces after the access, and goes before it.
 */
export function composeArgocd(context: Context): void {
  const { composer, labelled, spoke } = context;
  const wanted = chosen(context);
  if (wanted === undefined) {
    // Crossplane forgets the Kustomization before it is gone.
    const name = composer.objectName(resources.argocdCluster);
    const isTold = labelled.some(({ kind, metadata }) => kind === "Kustomization" && metadata.name === name);
    if (isTold) for (const resource of access) composer.keep(resource);
    return;
  }
  const { roleArn, namespaces } = wanted;
  const rights = { entry: resources.argocdEntry, arn: roleArn };
  const grant = { resource: resources.argocdPolicy, namespaces };
  composeEntry(context, rights);
  composeGrant(context, { ...rights, ...grant, policy: teamAccessPolicies.edit });
  const { endpoint, certificateAuthority } = controlPlaneFacts(context);
  const needs = { ...spokeFacts(context), endpoint, certificateAuthority, access: grantReady(context, grant) };
  composer.object(resources.argocdCluster, needs, ({ endpoint, certificateAuthority, access: _, ...known }) => {
    const reach: ArgocdAccess = { kind: "role", roleArn, endpoint, certificateAuthority, namespaces };
    return clusterKustomization(
      context,
      wanted,
      argocdClusterSecret(metadataOf(context, known), reach, spoke.spec.ring),
    );
  });
}
