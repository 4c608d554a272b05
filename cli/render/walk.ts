import type { Settings } from "../../functions/spoke/settings.ts";
import type { ClusterMetadata } from "../../lib/bridge.ts";
import { hubName } from "../../lib/names.ts";
import { type Files, isObject, type Manifest, type Path } from "./files.ts";
import type { Findings, Place } from "./findings.ts";
import { Cluster, type Rendered, type Step, type Values } from "./fleet.ts";
import type { FluxBuild } from "./generate.ts";
import type { Workspace } from "./workspace.ts";

/** The state of the walk from the hub's root Kustomization to what every cluster gets. */

export interface FollowOptions {
  readonly workspace: Workspace;
  readonly build: FluxBuild;
  readonly files: Files;
  readonly findings: Findings;
  /** The fleet whose hub is followed. */
  readonly fleet: string;
  /** The hub; by default one with facts as AWS would report them. */
  readonly hub?: ClusterMetadata;
  /** What emits the hub's bridge; by default the code that the compiler came with. */
  readonly bridge?: (metadata: ClusterMetadata) => Values;
  /** What the composition function hands over for a Spoke; undefined when it refuses it. By default what it would for any. */
  readonly handover?: (spoke: string) => Handover | undefined;
  /** Folder of other checkouts for a GitRepository's specification; undefined for those of the workspace. */
  readonly root?: (source: Manifest["spec"]) => string | undefined;
}

/** What of a spoke's composed resources Flux on the hub goes on with. */
export interface Handover {
  /** Data of the cluster secret. */
  readonly data: Values;
  /** The Kustomization over the chain. */
  readonly bootstrap: Manifest;
}

/** What the walk has found so far. */
export interface Walk {
  readonly hub: Cluster;
  readonly clusters: Map<string, Cluster>;
  /** Clusters by `namespace/name` of the object by which Flux on the hub reaches them. */
  readonly kubeConfigs: Map<string, Cluster>;
  /** Every Kustomization, in the order in which they were found. */
  readonly steps: Step[];
  /** Those of them whose source or variables are not there yet. */
  readonly waiting: Set<Step>;
  /** Spokes of which the composition function has made nothing yet. */
  readonly spokes: Rendered[];
  readonly notes: Set<string>;
  /** Inputs of Compositions by name; undefined where one is wrong. */
  readonly settings: Map<string, Settings | undefined>;
  /** Whether something broken was reported: what other steps lack may be in it. */
  broken: boolean;
}

export function newWalk(): Walk {
  const hub = new Cluster(hubName);
  return {
    hub,
    clusters: new Map([[hubName, hub]]),
    kubeConfigs: new Map(),
    steps: [],
    waiting: new Set(),
    spokes: [],
    notes: new Set(),
    settings: new Map(),
    broken: false,
  };
}

/** Name of the object by which a Kustomization reaches another cluster, and where it says so; undefined when it acts on its own. */
function kubeConfigOf({ spec }: Manifest): { readonly name: string; readonly path: Path } | undefined {
  if (!isObject(spec?.kubeConfig)) return undefined;
  const { configMapRef, secretRef } = spec.kubeConfig as Record<string, { name?: string } | undefined>;
  const name = configMapRef?.name ?? secretRef?.name ?? "";
  return { name, path: ["spec", "kubeConfig", configMapRef ? "configMapRef" : "secretRef", "name"] };
}

function tellUnreached(name: string, place: Place, home: Cluster, findings: Findings): void {
  findings.add(
    "source",
    place,
    `no Spoke makes ${name}, by which this is to reach a cluster`,
    "a Spoke makes <name>-kubeconfig in its own namespace",
    home.name,
  );
}

/** Adds a Kustomization that Flux on `home` runs; one whose cluster nobody makes is reported, and is not a step. */
export function addStep(
  walk: Walk,
  findings: Findings,
  { manifest, raw, place }: Omit<Rendered, "by">,
  home: Cluster,
  parent?: Step,
): void {
  const { name, namespace = "default" } = manifest.metadata;
  const kubeConfig = kubeConfigOf(manifest);
  const reached = `${namespace}/${kubeConfig?.name}`;
  const on = kubeConfig ? walk.kubeConfigs.get(reached) : home;
  if (!on) {
    if (kubeConfig && !walk.broken) tellUnreached(reached, place(kubeConfig.path), home, findings);
    return;
  }
  const step: Step = {
    name,
    namespace,
    home,
    on,
    manifest,
    raw,
    place,
    ...(parent ? { parent } : {}),
    children: [],
    objects: [],
    complete: false,
  };
  parent?.children.push(step);
  home.steps.push(step);
  walk.steps.push(step);
  walk.waiting.add(step);
}
