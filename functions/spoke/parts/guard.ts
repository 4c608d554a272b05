import { labelKeys } from "../../../lib/labels.ts";
import { spokeApi } from "../../../lib/spoke.ts";
import type { Spoke } from "../api.ts";
import { deletionAttempt, usageApi } from "../kinds.ts";
import type { KubeObject } from "../kube.ts";
import { condition } from "../kube.ts";
import type { Observed } from "../observed.ts";
import { isLeaving } from "../orphan.ts";

export const guardKey = "deletion-guard";

/**
 * Keeps the Spoke when somebody deletes it. Crossplane would drop its finalizer at once and leave its resources to the garbage
 * collector, in no order, while the hub's guard and people take it for gone. With the Usage the function removes the resources in order,
 * the Spoke reports how far that is, and when the function finally removes the Usage, Crossplane repeats the deletion.
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

/** Whether the guard works: before that the function creates nothing that would have to be removed in order. */
export function isGuarded(observed: Observed): boolean {
  return condition(observed.objects.get(guardKey), "Ready")?.status === "True";
}

/**
 * Whether the spoke is to be removed. A protected one is not, even if somebody deleted it before it was protected; one that the fleet
 * lets go loses nothing, so its protection stays on the cluster. A deletion that was held back has to be asked for again for that.
 */
export function isDeleting(spoke: Spoke): boolean {
  const isAsked = spoke.metadata.annotations?.[deletionAttempt] !== undefined;
  return isAsked && (!spoke.spec.deletionProtection || isLeaving(spoke));
}
