import { clusterSecretName } from "../../lib/bridge.ts";
import {
  autoModeLabel,
  labelKeys,
  releasesLabel,
  revisionAnnotation,
  sealingLabel,
  stageLabel,
  targetLabel,
} from "../../lib/labels.ts";
import { chainArtifact, spokeFolder, spokeSync } from "../../lib/layout.ts";
import { namespaces } from "../../lib/names.ts";
import type { Spoke } from "./api.ts";
import { isAuto } from "./auto-mode.ts";
import { objectName } from "./composer.ts";
import type { Hub } from "./hub.ts";
import { otherKinds } from "./kinds.ts";
import type { KubeObject } from "./kube.ts";
import { isLetGo, orphanPatches, suspendedReleases } from "./orphan.ts";
import { labelled, patchOf } from "./patches.ts";
import { resources } from "./resources.ts";
import { rolloutPatches, stageOf, stepsAt } from "./rollout.ts";
import { keyPatches } from "./sealing.ts";
import type { Settings } from "./settings.ts";
import { sourcesPatches } from "./sources.ts";

/** The bootstrap chain in Git, as a spoke gets it. */

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

/** In the kubeconfig variant every object of the chain that acts on the spoke takes the Secret instead of the ConfigMap. */
function useSecret(spoke: Spoke): object {
  // The key that the AWS provider's ClusterAuth writes; Flux's default is another one.
  const value = { secretRef: { name: kubeConfigName(spoke), key: "kubeconfig" } };
  return { op: "replace", path: "/spec/kubeConfig", value };
}

/** Patches of everything that acts on the spoke: of the chain's own objects, and of the HelmReleases that its steps make. */
function targetPatches(spoke: Spoke, { kubeConfig }: Settings): object[] {
  const ofSecret = kubeConfig === "secret" ? [useSecret(spoke)] : [];
  const releases = [
    ...ofSecret.map((operation) => patchOf({ kind: "HelmRelease" }, operation)),
    ...(isLetGo(spoke) ? [suspendedReleases()] : []),
  ];
  return [
    ...ofSecret.map((operation) => patchOf(labelled(targetLabel), operation)),
    ...(isLetGo(spoke) ? orphanPatches() : []),
    ...(releases.length === 0
      ? []
      : [patchOf(labelled(releasesLabel), { op: "add", path: "/spec/patches", value: releases })]),
  ];
}

/** Sealing keys of a spoke's own are beside its Spoke and come from the Spoke's branch, in every stage; in another account they have ARNs. */
function sealingPatches(spoke: Spoke, hub: Hub): object[] {
  const { metadata, spec } = spoke;
  const keys = keyPatches(spoke, hub);
  const operations = [
    ...(spec.sealing === "cluster"
      ? [
          { op: "replace", path: "/spec/path", value: `./${spokeFolder(hub.fleet, metadata.name)}/sealing-keys` },
          { op: "replace", path: "/spec/sourceRef", value: source("ExternalArtifact", spokeSync(metadata.name)) },
        ]
      : []),
    ...(keys.length > 0 ? [{ op: "add", path: "/spec/patches", value: keys }] : []),
  ];
  return operations.length > 0 ? [patchOf(labelled(sealingLabel), ...operations)] : [];
}

/** What only clusters with EKS Auto Mode have: NetworkPolicies turned on in the step `base`, and the hub's right to it in the step `access`. */
function autoModePatches(spoke: Spoke): object[] {
  return isAuto(spoke)
    ? [patchOf(labelled(autoModeLabel), { op: "add", path: "/spec/components", value: ["auto-mode"] })]
    : [];
}

/** Patches of the chain in Git: what the platform team decided in the Composition, and what follows from the Spoke. */
function chainPatches(spoke: Spoke, settings: Settings, hub: Hub, revision: string | undefined): object[] {
  const stage = stageOf(spoke, settings);
  return [
    ...targetPatches(spoke, settings),
    ...(stage?.gitRepository === undefined
      ? []
      : [patchOf(labelled(stageLabel), { op: "replace", path: "/spec/sourceRef", value: chainSource(stage) })]),
    // After the stage's patch, whose source it replaces.
    ...sealingPatches(spoke, hub),
    ...sourcesPatches(spoke, hub, revision),
    ...autoModePatches(spoke),
    ...(revision === undefined ? [] : rolloutPatches(revision)),
  ];
}

/**
 * The Flux Kustomization that applies the chain in Git, which turns the spoke into an autonomous cluster.
 * @param revision the revision of its ring that a spoke is brought (`rollout.ts`)
 */
export function bootstrapKustomization(spoke: Spoke, settings: Settings, hub: Hub, revision?: string): KubeObject {
  const stage = stageOf(spoke, settings);
  const patches = chainPatches(spoke, settings, hub, revision);
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
