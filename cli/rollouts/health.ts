import type { Rollout } from "../../functions/spoke/api.ts";
import { ringBranch } from "../../lib/rings.ts";
import type { Ring } from "./policy.ts";

/** What the hub says of a spoke in a ring. */
export interface SpokeState {
  readonly name: string;
  readonly ring: string;
  readonly isReady: boolean;
  /** Whether Crossplane could run the Composition. */
  readonly isSynced: boolean;
  readonly phase: string | undefined;
  readonly message: string | undefined;
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
  /** Whether its controller has seen its newest specification. */
  readonly isCurrent: boolean;
}

export interface RingState {
  /** Newest revision of the ring's Composition. */
  readonly composition: string | undefined;
  readonly sync: SyncState | undefined;
  /** UID of the ring's GitRepository; undefined when there is none. */
  readonly source: string | undefined;
}

export interface Hub {
  readonly spokes: readonly SpokeState[];
  readonly rings: ReadonlyMap<string, RingState>;
}

/** How a ring is with the commit that it has. */
export interface Health {
  readonly state: "passed" | "soaking" | "arriving" | "stopped";
  readonly spokes: number;
  /** Spokes that have the commit and are healthy. */
  readonly healthy: readonly string[];
  /** Spokes that are not, with the reason. */
  readonly unhealthy: readonly { readonly spoke: string; readonly reason: string }[];
  /** Since when enough spokes have been healthy; undefined while they are not, and without spokes. */
  readonly since: number | undefined;
  /** Why the ring is arriving or stopped. */
  readonly reason: string | undefined;
}

const revisionOf = (ring: string, commit: string): string => `${ringBranch(ring)}@sha1:${commit}`;

/** Phases in which a Spoke that is not Ready is on its way. */
const working = ["Pending", "Network", "ControlPlane", "Nodes", "Identities", "Bootstrap", "Upgrading"];

/** Why a spoke counts as unhealthy; undefined when it is healthy or on its way. */
function ailment({ isReady, isSynced, phase, message }: SpokeState, hasCommit: boolean): string | undefined {
  if (!isSynced) return "Crossplane can't run its Composition";
  if (phase === "Failing" || phase === "Refused") return message ?? phase;
  return !isReady && hasCommit && !working.includes(phase ?? "") ? (message ?? "is not Ready") : undefined;
}

/** Reasons for Ready=False that say nothing about the revision: Flux has not tried it (kustomize-controller, Reconcile). */
const notTried = ["DependencyNotReady", "ArtifactFailed", "HealthCheckCanceled"];

/** Why a ring's Composition is not applied, and whether it failed; undefined when it is, also while Flux applies it again. */
function syncProblem(revision: string, sync: SyncState | undefined): { reason: string; failed: boolean } | undefined {
  if (sync === undefined) return { reason: "the hub has no Kustomization for it yet", failed: false };
  const { status, reason, message, attempted, applied, isCurrent } = sync;
  const underWay = { reason: "Flux applies its Composition", failed: false };
  if (!isCurrent || attempted !== revision) return underWay;
  if (status === "False" && !notTried.includes(reason))
    return { reason: `its Composition can't be applied: ${message}`, failed: true };
  return applied === revision ? undefined : underWay;
}

const some = (names: readonly string[], most = 5): string =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");

/** How a ring is with the commit at the end of its branch. */
export function healthOf(ring: Ring, commit: string, hub: Hub, now: number): Health {
  const revision = revisionOf(ring.name, commit);
  const { composition, sync } = hub.rings.get(ring.name) ?? {};
  const notApplied = syncProblem(revision, sync);
  const spokes = hub.spokes.filter((spoke) => spoke.ring === ring.name);
  const hasCommit = ({ rollout }: SpokeState) => rollout.revision === revision && rollout.next === undefined;
  const unhealthy = spokes.flatMap((spoke) => {
    const reason = ailment(spoke, hasCommit(spoke));
    return reason === undefined ? [] : [{ spoke: spoke.name, reason }];
  });
  const healthy = spokes.filter(
    (spoke) =>
      notApplied === undefined &&
      hasCommit(spoke) &&
      composition !== undefined &&
      spoke.rollout.composition === composition &&
      spoke.isReady &&
      spoke.rollout.healthySince !== undefined &&
      !unhealthy.some((other) => other.spoke === spoke.name),
  );
  const allowed = ring.allows(spokes.length);
  const needed = spokes.length - allowed;
  const times = healthy.map(({ rollout }) => Date.parse(rollout.healthySince as string)).sort((a, b) => a - b);
  const since = needed > 0 ? times[needed - 1] : undefined;
  const common = { spokes: spokes.length, healthy: healthy.map(({ name }) => name), unhealthy, since };
  if (notApplied?.failed) return { ...common, state: "stopped", reason: notApplied.reason };
  if (unhealthy.length > allowed) {
    const names = some(unhealthy.map(({ spoke }) => spoke));
    const counted = `${unhealthy.length} of ${spokes.length} spokes ${unhealthy.length === 1 ? "is" : "are"} unhealthy`;
    return { ...common, state: "stopped", reason: `${counted} (${names})` };
  }
  if (needed > 0 && since === undefined) {
    const late = spokes.filter((spoke) => !healthy.includes(spoke)).map(({ name }) => name);
    return { ...common, state: "arriving", reason: notApplied?.reason ?? some(late) };
  }
  if (since !== undefined && now - since < ring.soak) return { ...common, state: "soaking", reason: undefined };
  return { ...common, state: "passed", reason: undefined };
}
