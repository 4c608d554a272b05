/** The conditions that a pass ends with (aws-controllers-k8s/runtime v0.62.0, pkg/runtime/reconciler.go, ensureConditions; pkg/condition). */
import type { Condition } from "./object.ts";

export type Change = Omit<Condition, "lastTransitionTime">;

const change = (type: string, status: Condition["status"], message?: string, reason?: string): Change => ({
  type,
  status,
  ...(message && { message }),
  ...(reason && { reason }),
});

const NOT_SYNCED = "Resource not synced";
const UNKNOWN = "Unable to determine if desired resource state matches latest observed state";
const SYNCED = "Resource synced successfully";

/** Message and reason of a resource that somebody else made. */
export const NOT_MANAGED = {
  message: "Resource already exists",
  reason:
    "This resource already exists but is not managed by ACK. To bring the resource under ACK management, you should explicitly adopt the resource " +
    "by enabling the ResourceAdoption feature gate and populating the `services.k8s.aws/adoption-policy` and `services.k8s.aws/adoption-fields` annotations.",
} as const;

export const terminalCondition = (message: string, reason?: string): Change =>
  change("ACK.Terminal", "True", message, reason);
export const recoverableCondition = (message: string): Change => change("ACK.Recoverable", "True", message);
export const lateInitialized = change(
  "ACK.LateInitialized",
  "True",
  "Late initialization successful",
  "Late initialization successful",
);
export const delayedInitialization = change(
  "ACK.LateInitialized",
  "False",
  "Late initialization did not complete, requeuing with delay of 5 seconds",
  "Delayed Late Initialization",
);

/** Of a resource that is as it is wanted. */
export const inSync: readonly Change[] = [
  change("ACK.ResourceSynced", "True", SYNCED),
  change("Ready", "True", SYNCED),
];

/** Of one that lacks what AWS has not told yet. */
export const outOfSync: readonly Change[] = [change("ACK.ResourceSynced", "False"), change("Ready", "False")];

/** Of a specification that can't be met. */
export const ended = (message: string, reason?: string): Change[] => [
  terminalCondition(message, reason),
  change("ACK.ResourceSynced", "False", NOT_SYNCED, "resource is in terminal condition"),
  change("Ready", "False", message, "ACK.Terminal"),
];

/** Of a resource of which nobody knows now: a call failed, or AWS is not done. */
export const unknown = (message: string, isExpected = false): Change[] => {
  const synced = change("ACK.ResourceSynced", "Unknown", UNKNOWN, message);
  return isExpected
    ? [synced, change("Ready", "Unknown", UNKNOWN, message)]
    : [recoverableCondition(message), synced, change("Ready", "False", message, "ACK.Recoverable")];
};

/** Conditions with the time at which each came to have its status. */
export const dated = (changes: readonly Change[], before: readonly Condition[], now: Date): Condition[] =>
  changes.map((each) => {
    const old = before.find(({ type }) => type === each.type);
    const lastTransitionTime =
      old?.status === each.status ? old.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, "Z");
    return { ...each, lastTransitionTime };
  });
