import { revisionAnnotation, toolsLabel } from "../../lib/labels.ts";
import { ringBranch, ringSource } from "../../lib/rings.ts";
import type { Rollout, Spoke } from "./api.ts";
import { otherKinds } from "./kinds.ts";
import { goesOn, isReady, type KubeObject, known, textAt } from "./kube.ts";
import type { Observed } from "./observed.ts";
import { labelled, patchOf } from "./patches.ts";
import { resources } from "./resources.ts";
import type { Settings } from "./settings.ts";

/** What of the platform's repository a spoke follows, and how far a commit is on the spoke. */

/** What a spoke follows instead of what the hub does: the branch of its ring, else the stage of its environment. */
export function stageOf({ spec }: Spoke, { stages }: Settings): Settings["stages"][string] | undefined {
  const stage = stages[spec.environment];
  if (spec.ring === undefined) return stage;
  return { ...stage, gitRepository: ringSource(spec.ring), gitopsSystemRevision: ringBranch(spec.ring) };
}

const isOfRing = (revision: string | undefined, ring: string): boolean =>
  revision?.startsWith(`${ringBranch(ring)}@`) === true;

/**
 * The revision of its ring's branch that Flux on the hub brings to a spoke; undefined without a ring, and before Flux has begun. The chain
 * is told of it, so that a revision counts as applied only when the spoke's own Flux has the tools of the same revision.
 */
export function revisionToBring({ spec }: Spoke, observed: Observed): string | undefined {
  if (spec.ring === undefined) return undefined;
  const attempted = textAt(observed.get(resources.bootstrap)?.status, "lastAttemptedRevision");
  return isOfRing(attempted, spec.ring) ? attempted : undefined;
}

const isTrue = (type: string) =>
  `status.conditions.exists(condition, condition.type == '${type}' && condition.status == 'True')`;

/**
 * When a Kustomization of the branch is current: Ready with the revision, and not with the one before, which it is until its controller comes
 * round to it. One that takes another source says nothing of the branch.
 */
const currentAt = (revision: string, source: string): string =>
  `(spec.sourceRef.name != '${source}' || (has(status.lastAppliedRevision) && status.lastAppliedRevision == '${revision}')) && has(status.conditions) && ${isTrue("Ready")}`;

/** How the steps of the chain are waited for at a revision of the ring. */
export const stepsAt = (revision: string, ring: string): object => ({
  apiVersion: otherKinds.Kustomization,
  kind: "Kustomization",
  failed: `has(status.conditions) && ${isTrue("Stalled")}`,
  current: currentAt(revision, ringSource(ring)),
});

/** Name of the source of the branch on a spoke (spoke-bootstrap/sync). */
const onSpoke = "gitops-system";
const expression = "/spec/healthCheckExprs/0/current";

/** Patch of a spoke's sources: the spoke reads its branch at once. */
export const readAtOnce = (revision: string): object =>
  patchOf(
    { kind: "GitRepository", name: onSpoke },
    { op: "add", path: "/metadata/annotations", value: { "reconcile.fluxcd.io/requestedAt": revision } },
  );

/** Patches of the chain: the spoke's tools, with all of theirs, are waited for at that revision. */
export function rolloutPatches(revision: string): object[] {
  const value = currentAt(revision, onSpoke);
  const tools = patchOf({ kind: "Kustomization", name: "tools" }, { op: "replace", path: expression, value });
  return [
    patchOf(labelled(toolsLabel), { op: "replace", path: expression, value }),
    patchOf(labelled(toolsLabel), { op: "add", path: "/spec/patches", value: [tools] }),
  ];
}

/** The revision of a chain that Flux has applied as a whole; undefined while it is applying another one than `before`. */
function complete(
  bootstrap: KubeObject | undefined,
  ring: string | undefined,
  before: string | undefined,
): string | undefined {
  const { spec, status } = bootstrap ?? {};
  const applied = textAt(status, "lastAppliedRevision");
  const told = textAt(spec, "commonMetadata", "annotations", revisionAnnotation);
  const ofRing = told === applied && isOfRing(applied, ring ?? "") ? applied : undefined;
  const revision = ring === undefined ? (textAt(status, "lastAppliedOriginRevision") ?? applied) : ofRing;
  if (isReady(bootstrap)) return revision;
  // Flux applies the same again at each interval.
  const isAgain = bootstrap !== undefined && goesOn(bootstrap) && textAt(status, "lastAttemptedRevision") === applied;
  return isAgain && revision === before ? revision : undefined;
}

/** How far a spoke is with what it follows. */
export function rolloutOf(spoke: Spoke, observed: Observed, isReadySpoke: boolean, now: number): Rollout {
  const { ring } = spoke.spec;
  const before = spoke.status?.rollout;
  const kept = before?.ring === ring ? before?.revision : undefined;
  const done = complete(observed.get(resources.bootstrap), ring, kept);
  const revision = done ?? kept;
  const bringing = revisionToBring(spoke, observed);
  const next = bringing === undefined || bringing === done ? undefined : bringing;
  const composition = spoke.spec.crossplane?.compositionRevisionRef?.name;
  const isHealthy = isReadySpoke && done !== undefined && next === undefined;
  const isSame = before?.ring === ring && before?.revision === revision && before?.composition === composition;
  const since = (isSame ? before?.healthySince : undefined) ?? new Date(now).toISOString();
  return known({ ring, composition, revision, next, healthySince: isHealthy ? since : undefined });
}

/** What is told as an event of a Spoke in a ring: that it has another revision, or is getting one. */
export function rolloutEvents(before: Rollout | undefined, now: Rollout): string[] {
  if (now.ring === undefined) return [];
  const { revision, next } = now;
  return [
    ...(next !== undefined && next !== before?.next ? [`Flux brings ${next} to the spoke`] : []),
    ...(revision !== undefined && next === undefined && (revision !== before?.revision || before?.next !== undefined)
      ? [`the spoke has ${revision}`]
      : []),
  ];
}
