import {
  bridgeData,
  bridgeLabels,
  type ClusterMetadata,
  clusterSecretName,
  inBase64,
  type OwnMetadata,
} from "../../../lib/bridge.ts";
import {
  labelKeys,
  releasesLabel,
  revisionAnnotation,
  sealingLabel,
  stageLabel,
  targetLabel,
  watchLabel,
} from "../../../lib/labels.ts";
import { chainArtifact, spokeFolder, spokeSync } from "../../../lib/layout.ts";
import { namespaces } from "../../../lib/names.ts";
import { type SpokeIdentity, sealingScope, spokeIdentities } from "../../../lib/spoke.ts";
import type { Spoke } from "../api.ts";
import { objectName } from "../composer.ts";
import type { Context, Surroundings } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { otherKinds } from "../kinds.ts";
import type { KubeObject } from "../kube.ts";
import { anyNodes } from "../node-groups.ts";
import { runningVersion } from "../plan.ts";
import { receiverPatches } from "../receiver.ts";
import { dashed, resources } from "../resources.ts";
import { revisionToBring, rolloutPatches, stageOf, stepsAt } from "../rollout.ts";
import type { Settings } from "../settings.ts";
import { controlPlaneFacts } from "./control-plane.ts";
import { identitiesReady } from "./identities.ts";

/** A source of Flux on the hub. */
const source = (kind: "ExternalArtifact" | "GitRepository", name: string) => ({
  kind,
  name,
  namespace: namespaces.flux,
});

/** Where the hub takes the chain from: the GitRepository of the spoke's ring or stage, else what the hub's own has of it. */
const chainSource = (stage: ReturnType<typeof stageOf>) =>
  stage?.gitRepository === undefined
    ? source("ExternalArtifact", chainArtifact)
    : source("GitRepository", stage.gitRepository);

/** Name of the object with which Flux reaches the spoke: a ConfigMap, or a Secret in the kubeconfig variant. */
export function kubeConfigName({ metadata }: Spoke): string {
  return objectName(metadata.name, resources.kubeConfig.key);
}

/** How Flux reaches the spoke. The ConfigMap has no credential: Flux signs a token with its own IAM role at each use. */
function kubeConfig(context: Context): void {
  const { composer, names, settings, spoke } = context;
  const { arn, endpoint, certificateAuthority } = controlPlaneFacts(context);
  if (settings.kubeConfig === "secret") {
    composer.managed(resources.clusterAuth, "ClusterAuth", { controlPlane: endpoint }, () => ({
      // EKS tokens live for 15 minutes.
      forProvider: { region: spoke.spec.region, clusterName: names.cluster, refreshPeriod: "10m0s" },
      writeConnectionSecretToRef: { name: kubeConfigName(spoke) },
    }));
    return;
  }
  composer.object(resources.kubeConfig, { arn, endpoint, certificateAuthority }, (known) => ({
    apiVersion: otherKinds.ConfigMap,
    kind: "ConfigMap",
    metadata: { name: kubeConfigName(spoke), labels: { ...watchLabel } },
    data: {
      provider: "aws",
      cluster: known.arn,
      // With both of these Flux does not call EKS on every reconciliation.
      address: known.endpoint,
      "ca.crt": Buffer.from(known.certificateAuthority, "base64").toString("utf8"),
    },
  }));
}

/** The facts in a spoke's cluster secret that AWS reports. */
export interface SpokeFacts {
  readonly vpcId: string;
  readonly vpcCidr: string;
  readonly arn: string;
  readonly issuer: string;
  readonly oidcProviderArn: string;
  readonly kubernetesVersion: string;
  readonly roleArns: Readonly<Record<SpokeIdentity, string>>;
}

type Source = Pick<Context, "hub" | "settings" | "spoke"> & Surroundings;

/** The facts of the spoke that Git may use. Facts about the fleet come from the hub. */
export function metadataOf(source: Source, facts: SpokeFacts): ClusterMetadata {
  const { hub, names, scope, settings, spoke } = source;
  const { environment, tenant, addons, sealing } = spoke.spec;
  const stage = stageOf(spoke, settings);
  const { gitopsSystem, gitopsWorkloads } = hub.repositories;
  const own: OwnMetadata = {
    name: spoke.metadata.name,
    role: "spoke",
    environment,
    tenant,
    fleet: hub.fleet,
    aws: {
      ...scope,
      vpcId: facts.vpcId,
      vpcCidr: facts.vpcCidr,
      clusterName: names.cluster,
      clusterArn: facts.arn,
    },
    kubernetesVersion: facts.kubernetesVersion,
    oidc: { provider: facts.issuer.replace(/^https:\/\//, ""), providerArn: facts.oidcProviderArn },
    identities: Object.fromEntries(
      Object.entries(facts.roleArns).map(([identity, roleArn]) => [
        identity,
        { roleArn, ...spokeIdentities[identity as SpokeIdentity] },
      ]),
    ),
    repositories: {
      gitopsSystem: { url: gitopsSystem.url, revision: stage?.gitopsSystemRevision ?? gitopsSystem.revision },
      gitopsWorkloads: {
        url: gitopsWorkloads.url,
        revision: stage?.gitopsWorkloadsRevision ?? gitopsWorkloads.revision,
      },
    },
    sealingScope: sealingScope({ name: spoke.metadata.name, environment, sealing }),
    permissionsBoundaryArn: source.permissionsBoundary,
    tenantBoundaryArn: source.tenantBoundary,
    addons: [...addons].sort(),
  };
  return { ...hub, ...own };
}

function roleArns({ observed }: Context): Fact<Record<SpokeIdentity, string>> {
  const identities = Object.keys(spokeIdentities) as SpokeIdentity[];
  const entries = identities.map((identity) => [identity, observed.text(resources.role(dashed(identity)), "arn")]);
  const known = entries.every(([, arn]) => arn !== undefined);
  return fact("identities", known ? Object.fromEntries(entries) : undefined);
}

/** The GitOps bridge of the spoke; in `data`, so that a key that is no longer emitted disappears. */
function clusterSecret(context: Context): void {
  const { composer, facts, observed, plan, spoke } = context;
  const { arn, issuer } = controlPlaneFacts(context);
  const needs = {
    vpcId: facts.text(resources.vpc, "id"),
    vpcCidr: fact("network", plan.network.cidr),
    arn,
    issuer,
    oidcProviderArn: facts.readyText(resources.oidcProvider, "arn"),
    kubernetesVersion: fact("controlPlane", runningVersion(observed)),
    roleArns: roleArns(context),
  };
  composer.object(resources.clusterSecret, needs, (known) => {
    const metadata = metadataOf(context, known);
    return {
      apiVersion: otherKinds.Secret,
      kind: "Secret",
      metadata: { name: clusterSecretName(spoke.metadata.name), labels: bridgeLabels(metadata) },
      data: inBase64(bridgeData(metadata)),
    };
  });
}

/** A patch of all objects of the chain that carry `label`. */
function patchOf(label: Readonly<Record<string, string>>, ...operations: readonly object[]): object {
  const labelSelector = Object.entries(label)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  return { target: { labelSelector }, patch: JSON.stringify(operations) };
}

/** In the kubeconfig variant every object of the chain that acts on the spoke takes the Secret instead of the ConfigMap. */
function secretPatches(spoke: Spoke): object[] {
  // The key that the AWS provider's ClusterAuth writes; Flux's default is another one.
  const value = { secretRef: { name: kubeConfigName(spoke), key: "kubeconfig" } };
  const useSecret = { op: "replace", path: "/spec/kubeConfig", value };
  const releases = { target: { kind: "HelmRelease" }, patch: JSON.stringify([useSecret]) };
  return [
    patchOf(targetLabel, useSecret),
    patchOf(releasesLabel, { op: "add", path: "/spec/patches", value: [releases] }),
  ];
}

/** Sealing keys of a spoke's own are beside its Spoke and come from the Spoke's branch, in every stage. */
function sealingPatches({ metadata, spec }: Spoke, fleet: string): object[] {
  if (spec.sealing !== "cluster") return [];
  return [
    patchOf(
      sealingLabel,
      { op: "replace", path: "/spec/path", value: `./${spokeFolder(fleet, metadata.name)}/sealing-keys` },
      { op: "replace", path: "/spec/sourceRef", value: source("ExternalArtifact", spokeSync(metadata.name)) },
    ),
  ];
}

/** Patches of the chain in Git: what the platform team decided in the Composition, and what follows from the Spoke. */
function chainPatches(spoke: Spoke, settings: Settings, fleet: string, revision: string | undefined): object[] {
  const stage = stageOf(spoke, settings);
  return [
    ...(settings.kubeConfig === "secret" ? secretPatches(spoke) : []),
    ...(stage?.gitRepository === undefined
      ? []
      : [patchOf(stageLabel, { op: "replace", path: "/spec/sourceRef", value: chainSource(stage) })]),
    // After the stage's patch, whose source it replaces.
    ...sealingPatches(spoke, fleet),
    ...[...receiverPatches(spoke), ...(revision === undefined ? [] : rolloutPatches(revision))].map(
      ([label, ...operations]) => patchOf(label, ...operations),
    ),
  ];
}

/**
 * The Flux Kustomization that applies the chain in Git, which turns the spoke into an autonomous cluster.
 * @param revision the revision of its ring that a spoke is brought (`rollout.ts`)
 */
export function bootstrapKustomization(spoke: Spoke, settings: Settings, fleet: string, revision?: string): KubeObject {
  const stage = stageOf(spoke, settings);
  const patches = chainPatches(spoke, settings, fleet, revision);
  return {
    apiVersion: otherKinds.Kustomization,
    kind: "Kustomization",
    metadata: { name: objectName(spoke.metadata.name, resources.bootstrap.key) },
    spec: {
      sourceRef: chainSource(stage),
      path: "./spoke-bootstrap",
      interval: "10m",
      retryInterval: "30s",
      // Also the limit for a removal: after it the controller would abandon what is still on the spoke.
      timeout: "60m",
      prune: true,
      wait: true,
      deletionPolicy: "WaitForTermination",
      commonMetadata: {
        labels: { [labelKeys.cluster]: spoke.metadata.name },
        ...(revision === undefined ? {} : { annotations: { [revisionAnnotation]: revision } }),
      },
      postBuild: { substituteFrom: [{ kind: "Secret", name: clusterSecretName(spoke.metadata.name) }] },
      ...(revision === undefined || spoke.spec.ring === undefined
        ? {}
        : { healthCheckExprs: [stepsAt(revision, spoke.spec.ring)] }),
      ...(patches.length > 0 ? { patches } : {}),
    },
  };
}

function bootstrap(context: Context): void {
  const { composer, facts, hub, observed, settings, spoke } = context;
  const kubeConfig = settings.kubeConfig === "secret" ? resources.clusterAuth : resources.kubeConfig;
  const needs = {
    handover: facts.ready(kubeConfig, resources.clusterSecret),
    identities: identitiesReady(context),
    nodes: anyNodes(context),
  };
  composer.object(resources.bootstrap, needs, () =>
    bootstrapKustomization(spoke, settings, hub.fleet, revisionToBring(spoke, observed)),
  );
}

/** Hands the spoke over to Git. */
export function composeHandover(context: Context): void {
  kubeConfig(context);
  clusterSecret(context);
  bootstrap(context);
}
