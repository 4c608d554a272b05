import { ringBranch } from "../../lib/rings.ts";
import type { Ring } from "./policy.ts";
import type { Hub, RingState, SpokeState, SyncState } from "./state.ts";

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
  /** Why the ring is arriving or stopped, or does not pass though it has soaked. */
  readonly reason: string | undefined;
  /** Since when the ring has been arriving, where the hub says so. */
  readonly arrivingSince: number | undefined;
  /** Whether that is longer than the ring's deadline. */
  readonly isLate: boolean;
  /** Whether a ring that is arriving had all of it before, and Flux only applies it once more. */
  readonly isAgain: boolean;
}

const revisionOf = (ring: string, commit: string): string => `${ringBranch(ring)}@sha1:${commit}`;

/** Phases in which a Spoke that is not Ready is on its way. */
export const working = ["Pending", "Network", "ControlPlane", "Nodes", "Identities", "Bootstrap", "Upgrading"];

/** Why a spoke counts as unhealthy; undefined when it is healthy or on its way. What it did before Flux tried the commit says nothing of it. */
function ailment(
  { isReady, unsynced, phase, message, rollout }: SpokeState,
  revision: string,
  hasCommit: boolean,
): string | undefined {
  if (unsynced !== undefined) return unsynced;
  const { revision: former, next } = rollout;
  if (former !== undefined && !hasCommit && next !== revision) return undefined;
  if (phase === "Failing" || phase === "Refused") return message ?? phase;
  return !isReady && hasCommit && !working.includes(phase ?? "") ? (message ?? "is not Ready") : undefined;
}

interface Obstacle {
  readonly reason: string;
  readonly failed: boolean;
}

const pending = (reason: string): Obstacle => ({ reason, failed: false });

/** Reasons for Ready=False that say nothing about the revision: Flux has not tried it (kustomize-controller, Reconcile). */
const notTried = ["DependencyNotReady", "ArtifactFailed", "HealthCheckCanceled"];

/** Why a ring's Composition is not applied; undefined when it is, also while Flux applies it again. */
function syncObstacle(revision: string, sync: SyncState | undefined): Obstacle | undefined {
  if (sync === undefined) return pending("the hub has no Kustomization for it yet");
  const { status, reason, message, attempted, applied, isCurrent } = sync;
  const isTried = status === "False" && !notTried.includes(reason);
  // Without isCurrent: the controller takes note of a specification only once it has applied it.
  if (isTried && attempted === revision)
    return { reason: `its Composition can't be applied: ${message}`, failed: true };
  if (applied === revision && attempted === revision && isCurrent) return undefined;
  return pending(
    status === "False" && !isTried
      ? `Flux can't apply its Composition yet: ${message}`
      : "Flux applies its Composition",
  );
}

/** Why a ring's commit is not on the hub; undefined when it is. */
function obstacle(revision: string, { sync, source }: RingState): Obstacle | undefined {
  if (source?.failure !== undefined && source.revision !== revision)
    return pending(`Flux can't fetch its branch: ${source.failure.message}`);
  return syncObstacle(revision, sync);
}

/** The revision of its Composition that Crossplane gives a spoke. */
const compositionFor = ({ takes, rollout }: SpokeState, revisions: RingState["revisions"]): string | undefined =>
  takes === undefined
    ? rollout.composition
    : revisions.find(({ labels }) => Object.entries(takes).every(([key, value]) => labels[key] === value))?.name;

const some = (names: readonly string[], most = 5): string =>
  names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", ");

function stopReason(unhealthy: Health["unhealthy"], spokes: number): string {
  const names = some(unhealthy.map(({ spoke }) => spoke));
  const counted = `${unhealthy.length} of ${spokes} spokes ${unhealthy.length === 1 ? "is" : "are"} unhealthy (${names})`;
  return `${counted}: ${unhealthy[0]?.reason}`;
}

/** Since when a spoke has been without what it has to have; undefined when it had it all before, and Flux only applies it once more. */
function lag(
  spoke: SpokeState,
  revision: string,
  composition: string | undefined,
  fetched: number,
): number | undefined {
  if (!spoke.isReady) return Math.max(fetched, spoke.unreadySince ?? fetched);
  const { rollout } = spoke;
  return rollout.revision === revision && rollout.composition === composition ? undefined : fetched;
}

/** Since when Flux has not brought a ring's commit to the hub; undefined when it had, and only applies it once more. */
function hubLag(revision: string, { sync, source }: RingState, fetched: number | undefined): number | undefined {
  if (fetched === undefined) return source?.failure?.since;
  return sync?.applied === revision ? undefined : fetched;
}

const unseen: RingState = { revisions: [], sync: undefined, source: undefined };

/** How a ring is with the commit at the end of its branch. */
export function healthOf(ring: Ring, commit: string, hub: Hub, now: number): Health {
  const revision = revisionOf(ring.name, commit);
  const onHub = hub.rings.get(ring.name) ?? unseen;
  const { revisions, source } = onHub;
  const inTheWay = obstacle(revision, onHub);
  const fetched = source?.revision === revision ? source.since : undefined;
  const spokes = hub.spokes.filter((spoke) => spoke.ring === ring.name);
  const hasCommit = ({ rollout }: SpokeState) => rollout.revision === revision && rollout.next === undefined;
  const unhealthy = spokes.flatMap((spoke) => {
    const reason = ailment(spoke, revision, hasCommit(spoke));
    return reason === undefined ? [] : [{ spoke: spoke.name, reason }];
  });
  const isHealthy = (spoke: SpokeState) =>
    inTheWay === undefined &&
    hasCommit(spoke) &&
    spoke.rollout.composition !== undefined &&
    spoke.rollout.composition === compositionFor(spoke, revisions) &&
    spoke.isReady &&
    spoke.rollout.healthySince !== undefined &&
    !unhealthy.some((other) => other.spoke === spoke.name);
  // A spoke that was made since can't hold back what the others have had, nor begin their soak anew.
  const former = spokes.filter(({ created }) => fetched === undefined || created <= fetched);
  const judged = former.length > 0 ? former : spokes;
  // One spoke at least has to be healthy, or nothing would have been tried.
  const allowed = Math.max(0, Math.min(ring.allows(spokes.length), spokes.length - 1));
  const needed = judged.length === 0 ? 0 : Math.max(1, judged.length - allowed);
  const late = judged.filter((spoke) => !isHealthy(spoke));
  const times = judged
    .filter(isHealthy)
    .map(({ rollout }) => Date.parse(rollout.healthySince as string))
    .sort((a, b) => a - b);
  const since = needed > 0 ? times[needed - 1] : undefined;
  const common = {
    ...{ spokes: spokes.length, healthy: spokes.filter(isHealthy).map(({ name }) => name), unhealthy, since },
    ...{ reason: undefined, arrivingSince: undefined, isLate: false, isAgain: false },
  };
  if (inTheWay?.failed) return { ...common, state: "stopped", reason: inTheWay.reason };
  if (unhealthy.length > allowed) return { ...common, state: "stopped", reason: stopReason(unhealthy, spokes.length) };
  if (inTheWay !== undefined || (needed > 0 && since === undefined)) {
    const lags = late
      .map((spoke) => lag(spoke, revision, compositionFor(spoke, revisions), fetched ?? now))
      .filter((time) => time !== undefined);
    const ofSpokes = lags.length === 0 ? undefined : Math.min(...lags);
    const arrivingSince = inTheWay === undefined ? ofSpokes : hubLag(revision, onHub, fetched);
    const isLate = arrivingSince !== undefined && now - arrivingSince >= ring.deadline;
    const reason = inTheWay?.reason ?? some(late.map(({ name }) => name));
    const isAgain = fetched !== undefined && arrivingSince === undefined;
    return { ...common, state: "arriving", reason, arrivingSince, isLate, isAgain };
  }
  if (since !== undefined && now - since < ring.soak) return { ...common, state: "soaking" };
  // Spokes keep saying that they are healthy when nothing looks after them any more.
  if (hub.frozen !== undefined) return { ...common, state: "soaking", reason: hub.frozen };
  return { ...common, state: "passed" };
}
