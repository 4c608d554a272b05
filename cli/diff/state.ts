import type { Spoke } from "../../functions/spoke/api.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { fromBase64 } from "../../lib/base64.ts";
import type { ClusterMetadata } from "../../lib/bridge.ts";
import { clusterSecretName } from "../../lib/bridge.ts";
import { labelKeys } from "../../lib/labels.ts";
import { spokeSync } from "../../lib/layout.ts";
import { hubName } from "../../lib/names.ts";
import { hubMetadata, inRegion, repositoryName } from "../render/clusters.ts";
import { Files, groupOf, type Manifest } from "../render/files.ts";
import { type Finding, Findings } from "../render/findings.ts";
import { isFluxKustomization, isSpoke, type Rendered, type RenderedFleet, type Step } from "../render/fleet.ts";
import { follow } from "../render/follow.ts";
import { FluxBuild } from "../render/generate.ts";
import { withAddonsPermitted } from "../render/hub-facts.ts";
import type { Build } from "../render/kustomize.ts";
import type { FollowOptions, Handover } from "../render/walk.ts";
import { openWorkspace, specimenOf, type Workspace } from "../render/workspace.ts";
import { type Code, codeOf } from "./function.ts";
import type { Side } from "./side.ts";
import { type Composed, composeSpokes, type Spokes, versionSpecimens } from "./spokes.ts";

/** A state of the fleet after rendering: the objects of every cluster. */

/** An object on a cluster. */
export interface Item {
  /** Identifies the same object in another state. */
  readonly id: string;
  readonly manifest: Manifest;
  /** Cluster in whose API server it is. */
  readonly on: string;
  /** What applies it. */
  readonly by: string;
  /** Composition resource name. */
  readonly key?: string;
  /** The Kustomizations through which it comes, from its own to the first. */
  readonly steps: readonly string[];
}

export interface State {
  readonly side: Side;
  readonly workspace: Workspace;
  /** Objects by the cluster that they belong to; those that the hub has for a spoke belong to the spoke. */
  readonly clusters: ReadonlyMap<string, readonly Item[]>;
  readonly fleet: RenderedFleet;
  readonly spokes: Spokes;
  /** Problems that `fleet check` would find on the way to the objects. */
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

export interface StateOptions {
  readonly side: Side;
  readonly build: Build;
  /** Facts about the hub; by default samples. */
  readonly hub?: ClusterMetadata;
  readonly recorded: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
  /** The fleet to render. */
  readonly fleet: string;
  /** The state before this one. */
  readonly before?: State;
}

/** What identifies a Kustomization: its cluster, namespace and name. */
export const stepId = ({ home, namespace, name }: Step): string => `${home.name}/${namespace}/${name}`;

const ancestors = (step: Step): Step[] => [step, ...(step.parent ? ancestors(step.parent) : [])];

export function itemId(on: string, manifest: Manifest, scope = ""): string {
  const { namespace = "", name } = manifest.metadata;
  return [on, scope, groupOf(manifest), manifest.kind, namespace, name].join("|");
}

/** The spoke that an object on the hub belongs to: by the chain that it comes from, by its label, or because it applies the Spoke. */
function spokeOf({ manifest, by }: Rendered, spokes: ReadonlyMap<string, unknown>): string | undefined {
  const first = ancestors(by).at(-1) as Step;
  const { name, labels } = manifest.metadata;
  const candidates = [
    first.name.replace(/-bootstrap$/, ""),
    isSpoke(manifest) ? name : undefined,
    labels?.[labelKeys.cluster],
    isFluxKustomization(manifest) && name.startsWith(spokeSync("")) ? name.slice(spokeSync("").length) : undefined,
  ];
  return candidates.find((candidate) => candidate !== undefined && spokes.has(candidate));
}

const ofStep = (object: Rendered): Item => ({
  id: itemId(object.by.on.name, object.manifest),
  manifest: object.manifest,
  on: object.by.on.name,
  by: `Kustomization ${object.by.namespace}/${object.by.name}`,
  steps: ancestors(object.by).map(stepId),
});

function ofComposition({ manifest: spoke, life }: Composed): Item[] {
  const { namespace } = spoke.metadata;
  return [...life.composed].map(([key, composed]) => {
    const manifest = { ...composed, metadata: { ...composed.metadata, namespace } } as Manifest;
    return { id: itemId(hubName, manifest), manifest, on: hubName, by: "the Composition", key, steps: [] };
  });
}

/** The chain that the Spoke hands over to Flux; undefined for a Spoke that is refused before its cluster is made. */
export function handedOver(composed: Composed | undefined): Handover | undefined {
  const objects = [...(composed?.life.composed.values() ?? [])];
  const secret = objects.find(
    ({ kind, metadata }) =>
      kind === "Secret" && metadata.name === clusterSecretName(composed?.manifest.metadata.name ?? ""),
  );
  const bootstrap = objects.find(({ kind }) => kind === "Kustomization");
  return secret?.data && bootstrap && { data: fromBase64(secret.data), bootstrap: bootstrap as Manifest };
}

/** Notes on stages that follow a branch of their own: merging does not change them. */
function followedElsewhere(before: State | undefined, hub: ClusterMetadata, notes: Set<string>): FollowOptions["root"] {
  if (!before) return undefined;
  const { gitopsSystem, gitopsWorkloads } = hub.repositories;
  const followed = new Map([gitopsSystem, gitopsWorkloads].map(({ url, revision }) => [repositoryName(url), revision]));
  return (source) => {
    const name = repositoryName(String(source?.url));
    const reference = Object.entries((source?.ref ?? {}) as Record<string, string>)[0];
    const revision = followed.get(name);
    if (!reference || revision === undefined || (reference[0] === "branch" && reference[1] === revision))
      return undefined;
    notes.add(
      `what follows ${name} at ${reference.join(" ")} is shown unchanged: a merge into ${revision} does not reach it`,
    );
    return before.workspace.folder;
  };
}

function clustersOf(fleet: RenderedFleet, { composed }: Spokes): Map<string, Item[]> {
  const clusters = new Map<string, Item[]>([hubName, ...composed.keys()].map((name) => [name, []]));
  for (const step of fleet.steps)
    for (const object of step.objects) {
      const name = step.on.isHub ? (spokeOf(object, composed) ?? hubName) : step.on.name;
      clusters.set(name, [...(clusters.get(name) ?? []), ofStep(object)]);
    }
  for (const [name, spoke] of composed) clusters.get(name)?.push(...ofComposition(spoke));
  return clusters;
}

/** Renders everything that Flux applies to the clusters in a state. */
export async function stateOf({
  side,
  build,
  before,
  recorded,
  fleet: name,
  ...options
}: StateOptions): Promise<State> {
  const workspace = openWorkspace(side.repos, { region: () => options.hub?.aws.region, fleet: name });
  const code: Code = await codeOf(side.project);
  // With fixed addresses, without which a spoke can't have a public endpoint.
  const madeUp = { ...hubMetadata(name, workspace.environments[0] ?? "dev"), hubEgressCidrs: ["203.0.113.10/32"] };
  const hub = options.hub ?? madeUp;
  const notes = new Set<string>();
  const root = followedElsewhere(before, hub, notes);
  const rendering = () => {
    const common = {
      workspace,
      fleet: name,
      build: new FluxBuild(build),
      files: new Files(),
      hub,
      bridge: code.bridgeData,
      ...(root ? { root } : {}),
    };
    const onHub = follow({ ...common, findings: new Findings(), handover: () => undefined });
    return { common, existing: { side, workspace, build, fleet: onHub, ...(before ? { before: before.spokes } : {}) } };
  };
  // First what the hub gets, including the Spokes; then, with what the function composes for these, what every cluster gets.
  const first = rendering();
  const { common, existing } = versionSpecimens(first.existing) ? rendering() : first;
  const data = code.bridgeData(hub);
  // No verdict may rest on the sample's region: a Spoke without an account of its own is in its hub's.
  const forSamples = code.bridgeData(withAddonsPermitted(hub, madeUp));
  const hubOf = (spoke: Spoke) => {
    const of = specimenOf(spoke.metadata.name, workspace) === undefined ? data : forSamples;
    return options.hub || spoke.spec.account ? of : inRegion(of, spoke.spec.region);
  };
  const spokes = await composeSpokes({ ...existing, code, recorded, hubOf });
  const findings = new Findings();
  const fleet = follow({
    ...common,
    findings,
    handover: (name: string) => handedOver(spokes.composed.get(name)),
  });
  return {
    side,
    workspace,
    fleet,
    spokes,
    clusters: clustersOf(fleet, spokes),
    findings: findings.sorted(),
    notes: [...(build.notes ?? []), ...workspace.notes, ...fleet.notes, ...spokes.notes, ...notes],
  };
}
