import type { Spoke } from "../../functions/spoke/api.ts";
import { bootstrapKustomization, kubeConfigName } from "../../functions/spoke/chain.ts";
import { readSettings, type Settings } from "../../functions/spoke/settings.ts";
import { compareVersions } from "../../functions/spoke/versions.ts";
import { type ClusterMetadata, clusterSecretName } from "../../lib/bridge.ts";
import { hubName } from "../../lib/names.ts";
import { type Schema, withDefaults } from "../../lib/openapi.ts";
import { spokeApi } from "../../lib/spoke.ts";
import { spokeData } from "./clusters.ts";
import { isObject, type Manifest } from "./files.ts";
import type { Findings } from "./findings.ts";
import { Cluster, type Rendered } from "./fleet.ts";
import { addStep, type FollowOptions, type Handover, type Walk } from "./walk.ts";

/** What the composition function makes of the Spokes, as far as Flux on the hub goes on with it. */

export interface CrossplaneSpec {
  readonly compositionUpdatePolicy?: string;
  readonly compositionRevisionSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

/** Name of the Composition by which a Spoke is made. */
export const compositionRef = ({ spec }: Manifest): string =>
  (spec?.crossplane as Spoke["spec"]["crossplane"])?.compositionRef?.name ?? spokeApi.composition;

/** The Composition by which a Spoke is made, of what the hub applies. */
export const compositionOf = (spoke: Manifest, { objects }: Pick<Cluster, "objects">): Rendered | undefined =>
  objects.find(
    ({ manifest: { kind, metadata, spec } }) =>
      kind === "Composition" &&
      spec?.compositeTypeRef?.kind === spokeApi.kind &&
      metadata.name === compositionRef(spoke),
  );

/** Whether the Spoke would use a revision with the labels of `composition`. */
export function takes({ spec }: Manifest, composition: Manifest): boolean {
  const { compositionRevisionSelector } = (spec?.crossplane ?? {}) as CrossplaneSpec;
  const labels = compositionRevisionSelector?.matchLabels ?? {};
  return Object.entries(labels).every(([name, value]) => composition.metadata.labels?.[name] === value);
}

/** What is wrong with the Kubernetes version of a Spoke; undefined where its Composition has it. */
export function unsupportedVersion({ spec }: Pick<Manifest, "spec">, composition: Manifest): string | undefined {
  const table: unknown = composition.spec?.pipeline?.[0]?.input?.kubernetesVersions;
  const version = String(spec?.kubernetesVersion);
  // What is wrong with the table is told elsewhere.
  if (!isObject(table) || table[version] !== undefined) return undefined;
  const supported = Object.keys(table).sort(compareVersions).join(", ");
  return `the Composition ${composition.metadata.name} does not support Kubernetes ${version}; it has ${supported}`;
}

/** The schema of a Spoke in the definition that the hub applies; undefined where it applies none. */
export function spokeSchema({ objects }: Pick<Cluster, "objects">): Schema | undefined {
  const definition = objects.find(
    ({ manifest: { kind, spec } }) => kind === "CompositeResourceDefinition" && spec?.names?.kind === spokeApi.kind,
  );
  return definition?.manifest.spec.versions?.[0]?.schema?.openAPIV3Schema as Schema | undefined;
}

type Composing = Pick<FollowOptions, "findings" | "handover"> & { readonly hub: ClusterMetadata };

/** Adds what becomes of the Spokes whose API and Composition are known. Whether there were any. */
export function addSpokes(walk: Walk, options: Composing): boolean {
  const schema = spokeSchema(walk.hub);
  if (!schema) return false;
  const spokes = walk.spokes.splice(0).map((spoke) => [spoke, compositionOf(spoke.manifest, walk.hub)] as const);
  for (const [spoke, composition] of spokes) {
    if (!composition) walk.spokes.push(spoke);
    else addSpoke(walk, options, spoke, schema, options.handover ? undefined : settingsOf(walk, composition, options));
  }
  return walk.spokes.length < spokes.length;
}

/** The Composition's input; undefined where it is wrong, and told once. */
function settingsOf(walk: Walk, composition: Rendered, { findings }: Composing): Settings | undefined {
  const { name } = composition.manifest.metadata;
  if (!walk.settings.has(name)) walk.settings.set(name, readInput(composition, findings));
  const settings = walk.settings.get(name);
  walk.broken ||= !settings;
  return settings;
}

function readInput({ manifest, place }: Rendered, findings: Findings): Settings | undefined {
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
      bootstrap: bootstrapKustomization(spoke, settings, hub) as Manifest,
    }
  );
}

function addSpoke(
  walk: Walk,
  options: Composing,
  { manifest, place }: Rendered,
  schema: Schema,
  settings: Settings | undefined,
): void {
  const spoke = withDefaults(schema, manifest) as unknown as Spoke;
  const { name, namespace } = spoke.metadata;
  // Without these the definition's schema has more to say.
  if (![spoke.spec?.region, spoke.spec?.environment, spoke.spec?.kubernetesVersion].every(Boolean)) return;
  const handover = handedOver(spoke, settings, options);
  const cluster = new Cluster(name);
  walk.clusters.set(name, cluster);
  if (!handover) return;
  walk.kubeConfigs.set(`${namespace}/${kubeConfigName(spoke)}`, cluster);
  walk.hub.emitted.set(`${namespace}/${clusterSecretName(name)}`, handover.data);
  const { bootstrap } = handover;
  const made = { ...bootstrap, metadata: { ...bootstrap.metadata, namespace } };
  addStep(walk, options.findings, { manifest: made, raw: made, place }, walk.hub);
}
