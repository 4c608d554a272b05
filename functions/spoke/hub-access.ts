import { targetLabel } from "../../lib/labels.ts";
import type { Spoke } from "./api.ts";
import { at, type KubeObject } from "./kube.ts";
import { failure, type Observed } from "./observed.ts";
import { isDeleting } from "./parts/guard.ts";
import { fluxIdentities } from "./plan.ts";
import type { Settings } from "./settings.ts";
import { tidy } from "./troubles.ts";

/** Type of the condition that says whether Flux on the hub is held to the rights that the chain gives it. */
export const hubAccessType = "HubAccessNarrow";

/** Why Flux on the hub administers the spoke; `Narrow` when it does not. */
const reasons = ["Narrow", "Bootstrap", "ChangeRefused", "RoleTooNarrow", "Removal"] as const;
export type HubAccessReason = (typeof reasons)[number];

/** An attempt of an object of the chain that the spoke's API server refused. */
export interface Refusal {
  /** Object, generation and revision: the same as long as the same thing is tried. */
  readonly attempt: string;
  /** The API server's words. */
  readonly message: string;
}

export interface HubAccess {
  readonly reason: HubAccessReason;
  /** What was refused before the hub got more rights; remembered afterwards, so that a repetition is known. */
  readonly refused: readonly Refusal[];
}

export interface HubAccessQuestion {
  readonly removing: boolean;
  /** Whether the chain has given the hub's controllers their own rights on the spoke. */
  readonly narrowed: boolean;
  /** Whether the whole chain is ready as it is in Git. */
  readonly ready: boolean;
  /** Attempts of the chain's objects; undefined while nobody looks at them. */
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
 * Whether Flux on the hub administers the spoke. It does until the chain is ready for the first time and during a removal; after a
 * refusal until the chain is ready again. What is refused again, unchanged, is more than the chain's own role ever allows: then the
 * rights stay until that changes in Git, instead of going and coming without end.
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

/** The chain has the step, and the access entries hand over the groups that it gives rights to. */
function isNarrowed({ metadata }: Spoke, observed: Observed, settings: Settings): boolean {
  const entries = at(observed.get("bootstrap")?.status, "inventory", "entries");
  const id = accessStepId(metadata.name, metadata.namespace);
  const hasStep = Array.isArray(entries) && entries.some((entry) => at(entry, "id") === id);
  return (
    hasStep &&
    Object.entries(fluxIdentities(settings)).every(([identity, groups]) => {
      const handedOver = at(observed.get(entryKey(identity))?.status, "atProvider", "kubernetesGroups");
      return Array.isArray(handedOver) && groups.every((group) => handedOver.includes(group));
    })
  );
}

/** Key of the access entry of one of the hub's controllers. */
export const entryKey = (identity: string): string => `access-entry-${identity.replaceAll("_", "-")}`;

/**
 * What the API server says to a user without the right: RBAC's refusal, the check against escalation (Kubernetes' registry/rbac), and
 * that of whoever gives an admission policy its parameters (registry/admissionregistration, authz.go). A policy's denial is neither.
 */
const refusal =
  /is forbidden: User "|is attempting to grant RBAC permissions not currently held|(must|does not) have "[^"]*" permission/;

function attemptOf({ kind, metadata, status }: KubeObject): string {
  const tried = [at(status, "lastAttemptedRevision"), at(status, "lastAttemptedConfigDigest")].filter(Boolean);
  return `${kind} ${metadata.name} (generation ${metadata.generation}, ${tried.join(", ")})`;
}

/** Whether the object acts on the spoke and was refused there for want of rights. */
export function isRefused(object: KubeObject): boolean {
  const onSpoke = Object.entries(targetLabel).every(([name, value]) => object.metadata.labels?.[name] === value);
  return onSpoke && refusal.test(failure(object) ?? "");
}

function before({ status }: Spoke): HubAccess | undefined {
  const said = status?.conditions?.find(({ type }) => type === hubAccessType)?.reason;
  const reason = reasons.find((known) => known === said);
  return reason && { reason, refused: status?.hubAccess?.refused ?? [] };
}

/** The decision for a Spoke as it is; `chain` is looked at only while it is not ready. */
export function hubAccessOf(
  spoke: Spoke,
  observed: Observed,
  settings: Settings,
  chain: readonly KubeObject[],
): HubAccess {
  const ready = observed.ready("bootstrap");
  return decideHubAccess({
    removing: isDeleting(spoke),
    narrowed: isNarrowed(spoke, observed, settings),
    ready,
    attempts: ready ? undefined : chain.map(attemptOf),
    refused: chain
      .filter(isRefused)
      .map((object) => ({ attempt: attemptOf(object), message: tidy(failure(object) ?? "") })),
    before: before(spoke),
  });
}
