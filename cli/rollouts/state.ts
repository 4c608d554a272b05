import type { Rollout, Spoke } from "../../functions/spoke/api.ts";
import { at, condition, type KubeObject, textAt } from "../../functions/spoke/kube.ts";
import { ringComposition, ringSource, ringSync } from "../../lib/rings.ts";

/** What the hub's objects say, as far as it concerns rings. */

/** The fleet and the branch of gitops-system that a hub follows. */
export interface Identity {
  readonly fleet: string;
  readonly branch: string;
}

/** What the hub says of a spoke in a ring. */
export interface SpokeState {
  readonly name: string;
  readonly ring: string;
  /** When it was made. */
  readonly created: number;
  readonly isReady: boolean;
  /** Since when it has not been Ready for the same reason. */
  readonly unreadySince: number | undefined;
  /** Why Crossplane can't run its Composition, or does not. */
  readonly unsynced: string | undefined;
  readonly phase: string | undefined;
  readonly message: string | undefined;
  /** Labels of the revisions of its Composition that it takes; undefined when it keeps the one that it has. */
  readonly takes: Readonly<Record<string, string>> | undefined;
  readonly rollout: Rollout;
}

/** What the hub says of the Kustomization that applies a ring's Composition. */
export interface SyncState {
  /** Of its condition Ready. */
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly attempted: string | undefined;
  readonly applied: string | undefined;
  /** Whether its controller has applied its newest specification. */
  readonly isCurrent: boolean;
}

/** What the hub says of the GitRepository of a ring's branch. */
export interface SourceState {
  readonly uid: string | undefined;
  /** The revision that Flux has fetched, and since when. */
  readonly revision: string | undefined;
  readonly since: number | undefined;
  /** Why Flux can't fetch the branch, and since when. */
  readonly failure: { readonly message: string; readonly since: number | undefined } | undefined;
}

/** A revision of a ring's Composition. */
interface Revision {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface RingState {
  /** Newest first. */
  readonly revisions: readonly Revision[];
  readonly sync: SyncState | undefined;
  readonly source: SourceState | undefined;
}

export interface Hub {
  /** Why what Spokes say of themselves may be out of date. */
  readonly frozen: string | undefined;
  readonly spokes: readonly SpokeState[];
  readonly rings: ReadonlyMap<string, RingState>;
}

/** The label of a CompositionRevision that names its Composition. */
export const compositionLabel = "crossplane.io/composition-name";

/** A time that an object names; undefined without one. */
function timeOf(written: string | undefined): number | undefined {
  const time = Date.parse(written ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** Since when a condition of an object has had its status. */
export const transition = (object: KubeObject, type: string): number | undefined =>
  timeOf(textAt(condition(object, type), "lastTransitionTime"));

/** Labels of the revisions that Crossplane chooses from; it looks at none when a person names the revision (APIRevisionFetcher). */
function taken(spec: unknown): SpokeState["takes"] {
  if (at(spec, "crossplane", "compositionUpdatePolicy") === "Manual") return undefined;
  return (at(spec, "crossplane", "compositionRevisionSelector", "matchLabels") ?? {}) as Record<string, string>;
}

/** Why Crossplane can't run the Composition of an object, or does not. */
function unsynced(object: KubeObject): string | undefined {
  const { status, reason = "", message = "" } = condition(object, "Synced") ?? {};
  if (status !== "False") return undefined;
  return `Crossplane does not run its Composition (${[reason, message].filter(Boolean).join(": ")})`;
}

export function spokeState(object: KubeObject): SpokeState {
  const { metadata, spec, status = {} } = object as unknown as Spoke & { spec: { ring: string } };
  const isReady = condition(object, "Ready")?.status === "True";
  return {
    ...{ name: metadata.name, ring: spec.ring, created: timeOf(metadata.creationTimestamp) ?? 0, isReady },
    unreadySince: isReady ? undefined : transition(object, "Ready"),
    unsynced: unsynced(object),
    phase: status.phase,
    message: status.message,
    takes: taken(spec),
    rollout: status.rollout ?? {},
  };
}

function syncState(object: KubeObject): SyncState {
  const { status = "Unknown", reason = "", message = "" } = condition(object, "Ready") ?? {};
  return {
    ...{ status, reason, message },
    attempted: textAt(object.status, "lastAttemptedRevision"),
    applied: textAt(object.status, "lastAppliedRevision"),
    isCurrent: at(object.status, "observedGeneration") === object.metadata.generation,
  };
}

function sourceState(object: KubeObject): SourceState {
  const { status, message = "" } = condition(object, "Ready") ?? {};
  return {
    uid: object.metadata.uid,
    revision: textAt(object.status, "artifact", "revision"),
    since: timeOf(textAt(object.status, "artifact", "lastUpdateTime")),
    failure: status === "False" ? { message, since: transition(object, "Ready") } : undefined,
  };
}

const named = (objects: readonly KubeObject[], name: string): KubeObject | undefined =>
  objects.find(({ metadata }) => metadata.name === name);

const numberOf = (revision: KubeObject): number => Number(at(revision.spec, "revision") ?? 0);

/** The objects of rings on the hub. */
export interface RingObjects {
  readonly revisions: readonly KubeObject[];
  readonly syncs: readonly KubeObject[];
  readonly sources: readonly KubeObject[];
}

export function ringState(ring: string, { revisions, syncs, sources }: RingObjects): RingState {
  const sync = named(syncs, ringSync(ring));
  const source = named(sources, ringSource(ring));
  return {
    revisions: revisions
      .filter(({ metadata }) => metadata.labels?.[compositionLabel] === ringComposition(ring))
      .sort((one, other) => numberOf(other) - numberOf(one))
      .map(({ metadata: { name, labels = {} } }) => ({ name, labels })),
    sync: sync === undefined ? undefined : syncState(sync),
    source: source === undefined ? undefined : sourceState(source),
  };
}

/** Why no Spoke's status may be trusted: it stays as it was when what writes it does not run. */
export function frozen(crossplane: KubeObject | undefined, composer: KubeObject | undefined): string | undefined {
  const broken = (
    [
      ["Deployment crossplane", crossplane, "Available"],
      ["Function function-spoke", composer, "Healthy"],
    ] as const
  ).flatMap(([what, object, type]) => {
    if (object === undefined) return [`there is no ${what}`];
    const { status, message = "" } = condition(object, type) ?? {};
    return status === "True" ? [] : [`${what} is not ${type}${message === "" ? "" : `: ${message}`}`];
  });
  return broken.length === 0 ? undefined : `the hub's Crossplane does not run: ${broken.join("; ")}`;
}
