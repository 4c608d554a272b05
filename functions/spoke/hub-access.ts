import { targetLabel } from "../../lib/labels.ts";
import type { HubAccessReason, Spoke } from "./api.ts";
import { tidy } from "./failures.ts";
import { at, isReady, type KubeObject, textAt } from "./kube.ts";
import { failureMessage, type Observed } from "./observed.ts";
import { isLetGo } from "./orphan.ts";
import { isDeleting } from "./parts/guard.ts";
import { fluxIdentities } from "./plan.ts";
import { resources } from "./resources.ts";
import type { Settings } from "./settings.ts";

/** Type of the condition that says whether Flux on the hub has no more rights than the chain gives it. */
export const hubAccessType = "HubAccessNarrow";

/** An attempt of an object of the chain that the spoke's API server refused. */
interface Refusal {
  /** Object, generation and revision: the same for every repetition. */
  readonly attempt: string;
  /** The API server's message. */
  readonly message: string;
}

export interface HubAccess {
  readonly reason: HubAccessReason;
  /** What was refused before the hub got more rights; kept afterwards to recognize a repetition. */
  readonly refused: readonly Refusal[];
}

export interface HubAccessQuestion {
  readonly removing: boolean;
  /** Whether the chain has given the hub's controllers their own rights on the spoke. */
  readonly narrowed: boolean;
  /** Whether the whole chain is ready as it is in Git. */
  readonly ready: boolean;
  /** Attempts of the chain's objects; undefined while the function does not read them. */
  readonly attempts: readonly string[] | undefined;
  readonly refused: readonly Refusal[];
  /** The decision before; undefined when there was none. */
  readonly before: HubAccess | undefined;
}

/** Both lists, each attempt once. */
const merged = (some: readonly Refusal[], others: readonly Refusal[]): readonly Refusal[] => [
  ...some,
  ...others.filter(({ attempt }) => !some.some((known) => known.attempt === attempt)),
];

/**
 * Whether Flux on the hub administers the spoke. It does until the chain is ready for the first time and during a removal, and after a
 * refusal until the chain is ready again. An attempt that is refused again, unchanged, needs more than the chain's own role allows: then
 * the rights stay until it changes in Git, because otherwise they would come and go without end.
 */
export function decideHubAccess({ removing, narrowed, ready, ...question }: HubAccessQuestion): HubAccess {
  const { attempts, before, refused } = question;
  if (removing) return { reason: "Removal", refused: [] };
  if (!narrowed) return { reason: "Bootstrap", refused: [] };
  const known = (before?.refused ?? []).filter(({ attempt }) => attempts?.includes(attempt) ?? true);
  switch (before?.reason) {
    case "Narrow":
      if (refused.length === 0) return { reason: "Narrow", refused: known };
      return {
        reason: refused.some(({ attempt }) => known.some((last) => last.attempt === attempt))
          ? "RoleTooNarrow"
          : "ChangeRefused",
        refused: merged(known, refused),
      };
    case "RoleTooNarrow":
      if (known.length > 0) return { reason: "RoleTooNarrow", refused: known };
      return ready ? { reason: "Narrow", refused: [] } : { reason: "ChangeRefused", refused };
    case "ChangeRefused":
      return { reason: ready ? "Narrow" : "ChangeRefused", refused: merged(known, refused) };
    default:
      return { reason: ready ? "Narrow" : "Bootstrap", refused: [] };
  }
}

/** How the inventory of `<spoke>-bootstrap` names the step that gives the hub's controllers their own rights. */
export function accessStepId(spoke: string, namespace: string): string {
  return `${namespace}_${spoke}-access_kustomize.toolkit.fluxcd.io_Kustomization`;
}

/** The chain has the step, and the access entries carry the groups to which it gives rights. */
function isNarrowed({ metadata }: Spoke, observed: Observed, settings: Settings): boolean {
  const entries = at(observed.get(resources.bootstrap)?.status, "inventory", "entries");
  const id = accessStepId(metadata.name, metadata.namespace);
  const hasStep = Array.isArray(entries) && entries.some((entry) => at(entry, "id") === id);
  return (
    hasStep &&
    Object.entries(fluxIdentities(settings)).every(([identity, groups]) => {
      const handedOver = at(observed.get(resources.hubEntry(identity))?.status, "atProvider", "kubernetesGroups");
      return Array.isArray(handedOver) && groups.every((group) => handedOver.includes(group));
    })
  );
}

/**
 * What the API server says to a user without the right: RBAC's refusal, the check against escalation (Kubernetes' registry/rbac), and
 * the check of who binds an admission policy to parameters (registry/admissionregistration, authz.go). A policy's denial is none of these.
 */
const refusal =
  /is forbidden: User "|is attempting to grant RBAC permissions not currently held|(must|does not) have "[^"]*" permission/;

function attemptOf({ kind, metadata, status }: KubeObject): string {
  if (metadata.deletionTimestamp !== undefined) return `${kind} ${metadata.name} (removal of ${metadata.uid})`;
  const tried = [at(status, "lastAttemptedRevision"), at(status, "lastAttemptedConfigDigest")].filter(Boolean);
  return `${kind} ${metadata.name} (generation ${metadata.generation}, ${tried.join(", ")})`;
}

const actsOnSpoke = ({ metadata }: KubeObject): boolean =>
  Object.entries(targetLabel).every(([name, value]) => metadata.labels?.[name] === value);

/** Whether the object acts on the spoke and was taken out of the chain: what it made there is still to be removed. */
const isLeaving = (object: KubeObject): boolean =>
  actsOnSpoke(object) && object.metadata.deletionTimestamp !== undefined;

/**
 * Whether the object acts on the spoke and needs more rights there: it was refused, or it is being removed, when Flux reports no refusal.
 */
export function needsMore(object: KubeObject): boolean {
  return isLeaving(object) || (actsOnSpoke(object) && refusal.test(failureMessage(object) ?? ""));
}

const refusalOf = (object: KubeObject): Refusal =>
  isLeaving(object)
    ? { attempt: attemptOf(object), message: "it was taken out of the chain" }
    : { attempt: attemptOf(object), message: tidy(failureMessage(object) ?? "") };

/** Revision of the chain that Flux has applied. */
const appliedRevision = (observed: Observed): string | undefined =>
  textAt(observed.get(resources.bootstrap)?.status, "lastAppliedRevision");

/**
 * Whether the function reads the chain's objects: while the chain is not ready, and once for each revision, because Flux does not wait
 * for objects that it removes.
 */
export function mustSeeChain({ status }: Spoke, observed: Observed): boolean {
  return !observed.ready(resources.bootstrap) || appliedRevision(observed) !== status?.hubAccess?.revision;
}

/** The decision, with the revision of the chain whose objects the function has read. */
export interface SeenAccess extends HubAccess {
  readonly revision: string | undefined;
}

/** The decision for a Spoke; `chain` is given when the decision needs it. */
export function hubAccessOf(
  spoke: Spoke,
  observed: Observed,
  settings: Settings,
  chain: readonly KubeObject[],
): SeenAccess {
  // Flux reports the chain as ready until it reconciles a step again, and that step may have been refused since, or be trying again.
  const isSettling = chain.some((object) => needsMore(object) || (actsOnSpoke(object) && !isReady(object)));
  const ready = observed.ready(resources.bootstrap) && !isSettling;
  // Not the condition: Crossplane writes conditions after the rest of the status.
  const last = spoke.status?.hubAccess;
  // Nothing is removed from the spoke, so Flux needs no further right for it.
  if (isDeleting(spoke) && isLetGo(spoke))
    return { reason: last?.reason ?? "Bootstrap", refused: [], revision: last?.revision };
  const decision = decideHubAccess({
    removing: isDeleting(spoke),
    narrowed: isNarrowed(spoke, observed, settings),
    ready,
    // Also when everything is ready: what was refused may have been removed from Git meanwhile.
    attempts: chain.length > 0 ? chain.map(attemptOf) : undefined,
    refused: chain.filter(needsMore).map(refusalOf),
    before: last,
  });
  // While the role is too narrow the function reads the chain every time: nothing else shows that the refused attempt is gone.
  const isSettled = ready && decision.reason !== "RoleTooNarrow";
  return { ...decision, revision: isSettled ? appliedRevision(observed) : last?.revision };
}
