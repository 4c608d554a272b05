import { labelKeys } from "../../../lib/labels.ts";
import { spokeApi } from "../../../lib/spoke.ts";
import type { Spoke } from "../api.ts";
import { usageApi } from "../kinds.ts";
import type { KubeObject } from "../kube.ts";
import { condition } from "../kube.ts";
import type { Observed } from "../observed.ts";

export const guardKey = "deletion-guard";

/** Annotation by which Crossplane remembers that somebody asked to delete an object that a Usage holds. */
export const deletionAttempt = "usage.crossplane.io/deletion-attempt-with-policy";

/**
 * Holds the Spoke when somebody deletes it. Crossplane would let go of it at once and leave its resources to the garbage
 * collector, in no order, while the hub's guard and people believe that it is gone. Held, it is taken down in order, says how
 * far that is, and goes as the last: without the Usage Crossplane repeats the deletion.
 */
export function deletionGuard(spoke: Spoke): KubeObject {
  const { name } = spoke.metadata;
  return {
    ...usageApi,
    metadata: { name: `${name}-${guardKey}`, labels: { [labelKeys.cluster]: name } },
    spec: {
      of: { apiVersion: spokeApi.apiVersion, kind: spokeApi.kind, resourceRef: { name } },
      reason: "the spoke is taken down in order; kubectl describe shows how far it is",
      replayDeletion: true,
    },
  };
}

/** Whether the guard works: before that nothing is made that would have to be removed in order. */
export function isGuarded(observed: Observed): boolean {
  return condition(observed.objects.get(guardKey), "Ready")?.status === "True";
}

/** Whether the spoke is to be taken down. A protected one is not, whatever was asked before it was protected. */
export function isDeleting(spoke: Spoke): boolean {
  return spoke.metadata.annotations?.[deletionAttempt] !== undefined && !spoke.spec.deletionProtection;
}
