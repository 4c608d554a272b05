import { hubName } from "../../lib/names.ts";
import { spokeApi } from "../../lib/spoke.ts";
import type { Manifest, Path } from "./files.ts";
import type { Place } from "./findings.ts";
import type { Tree } from "./tree.ts";

/** What Flux makes of the repositories: clusters, the Kustomizations that act on them, and the objects. */

export type Values = Readonly<Record<string, string>>;

/** An object that a Kustomization applies. */
export interface Rendered {
  /** As the cluster gets it. */
  readonly manifest: Manifest;
  /** Before the substitution. */
  readonly raw: Manifest;
  readonly by: Step;
  /** Where the value at `path` was written. */
  readonly place: (path: Path) => Place;
}

/** A Flux Kustomization. */
export interface Step {
  readonly name: string;
  readonly namespace: string;
  /** Cluster whose Flux runs it. */
  readonly home: Cluster;
  /** Cluster on which it acts. */
  readonly on: Cluster;
  readonly manifest: Manifest;
  /** Before the substitution: its words are the same for every cluster. */
  readonly raw: Manifest;
  /** Where the value at `path` of the Kustomization was written. */
  readonly place: (path: Path) => Place;
  /** The Kustomization that applied it; none for the roots. */
  readonly parent?: Step;
  readonly children: Step[];
  readonly objects: Rendered[];
  /** Variables that it substitutes; undefined when it substitutes nothing. */
  values?: Values;
  /** What it builds; undefined until it can be built. */
  tree?: Tree;
  /** Whether everything that it applies is known. */
  complete: boolean;
}

export class Cluster {
  readonly name: string;
  readonly objects: Rendered[] = [];
  readonly steps: Step[] = [];
  /** Secrets that are not in Git: what the program and the composition function emit, by `namespace/name`. */
  readonly emitted = new Map<string, Values>();
  /** Specifications of Flux's sources that are not in Git: the program's own, by `Kind namespace/name`. */
  readonly sources = new Map<string, Manifest["spec"]>();

  constructor(name: string) {
    this.name = name;
  }

  get isHub(): boolean {
    return this.name === hubName;
  }

  find(kind: string, namespace: string | undefined, name: string): Rendered | undefined {
    return this.objects.find(
      ({ manifest: { kind: of, metadata } }) =>
        of === kind && metadata.name === name && (metadata.namespace ?? undefined) === namespace,
    );
  }
}

/** Everything that Git applies to a fleet: its clusters, and the Flux Kustomizations that apply it. */
export interface RenderedFleet {
  readonly name: string;
  readonly hub: Cluster;
  readonly clusters: ReadonlyMap<string, Cluster>;
  readonly steps: readonly Step[];
  /** What could not be looked at, and why. */
  readonly notes: readonly string[];
}

/** A Kustomization's name as it is written: the same for every cluster. */
export const nameOf = ({ raw }: Step): string => raw.metadata.name;

export const isFluxKustomization = ({ apiVersion, kind }: Manifest): boolean =>
  kind === "Kustomization" && apiVersion.startsWith("kustomize.toolkit.fluxcd.io/");

export const isSpoke = ({ apiVersion, kind }: Manifest): boolean =>
  apiVersion === spokeApi.apiVersion && kind === spokeApi.kind;

export const isHelmRelease = ({ apiVersion, kind }: Manifest): boolean =>
  kind === "HelmRelease" && apiVersion.startsWith("helm.toolkit.fluxcd.io/");

/** Every object of the fleet. */
export const allObjects = (fleet: RenderedFleet): Rendered[] => fleet.steps.flatMap(({ objects }) => objects);
