import type { Spoke } from "../../functions/spoke/api.ts";
import { bootstrapKustomization, kubeConfigName } from "../../functions/spoke/parts/handover.ts";
import { readSettings, type Settings } from "../../functions/spoke/settings.ts";
import { type ClusterMetadata, clusterSecretName } from "../../lib/bridge.ts";
import { hubName } from "../../lib/names.ts";
import { type Schema, withDefaults } from "../../lib/openapi.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { spokeData } from "./clusters.ts";
import type { Manifest } from "./files.ts";
import type { Findings } from "./findings.ts";
import { Cluster, type Rendered } from "./fleet.ts";
import { addStep, type FollowOptions, type Handover, type Walk } from "./walk.ts";

/** What the composition function makes of the Spokes, as far as Flux on the hub goes on with it. */

export const isSpoke = ({ apiVersion, kind }: Manifest): boolean =>
  apiVersion === spokeApi.apiVersion && kind === spokeApi.kind;

type Composing = Pick<FollowOptions, "findings" | "handover"> & { readonly hub: ClusterMetadata };

/** Adds what becomes of the Spokes, once the API and its Composition are known. Whether there were any. */
export function addSpokes(walk: Walk, options: Composing): boolean {
  const { objects } = walk.hub;
  const composition = objects.find(
    ({ manifest: { kind, spec } }) => kind === "Composition" && spec?.compositeTypeRef?.kind === spokeApi.kind,
  );
  const definition = objects.find(
    ({ manifest: { kind, spec } }) => kind === "CompositeResourceDefinition" && spec?.names?.kind === spokeApi.kind,
  );
  if (!composition || !definition || walk.spokes.length === 0) return false;
  if (!options.handover) walk.settings ??= settingsOf(composition, options.findings);
  walk.broken ||= !options.handover && !walk.settings;
  const schema = definition.manifest.spec.versions?.[0]?.schema?.openAPIV3Schema as Schema;
  for (const spoke of walk.spokes.splice(0)) addSpoke(walk, options, spoke, schema);
  return true;
}

/** The Composition's input; undefined where it is wrong, and told. */
function settingsOf({ manifest, place }: Rendered, findings: Findings): Settings | undefined {
  try {
    return readSettings(manifest.spec.pipeline?.[0]?.input);
  } catch (error) {
    findings.add(
      "schema",
      place(["spec", "pipeline", 0, "input"]),
      (error as Error).message,
      "functions/spoke/settings.ts describes it",
      hubName,
    );
    return undefined;
  }
}

function handedOver(spoke: Spoke, settings: Settings | undefined, { hub, handover }: Composing): Handover | undefined {
  if (handover) return handover(spoke.metadata.name);
  return (
    settings && {
      data: spokeData(spoke, hub, settings),
      bootstrap: bootstrapKustomization(spoke, settings, hub.fleet) as Manifest,
    }
  );
}

function addSpoke(walk: Walk, options: Composing, { manifest, place }: Rendered, schema: Schema): void {
  const spoke = withDefaults(schema, manifest) as unknown as Spoke;
  const { name, namespace } = spoke.metadata;
  // Without these the definition's schema has more to say.
  if (![spoke.spec?.region, spoke.spec?.environment, spoke.spec?.kubernetesVersion].every(Boolean)) return;
  const handover = handedOver(spoke, walk.settings, options);
  const cluster = new Cluster(name);
  walk.clusters.set(name, cluster);
  if (!handover) return;
  walk.kubeConfigs.set(`${namespace}/${kubeConfigName(spoke)}`, cluster);
  walk.hub.emitted.set(`${namespace}/${clusterSecretName(name)}`, handover.data);
  const { bootstrap } = handover;
  const made = { ...bootstrap, metadata: { ...bootstrap.metadata, namespace } };
  addStep(walk, options.findings, { manifest: made, raw: made, place }, walk.hub);
}
