/** A managed resource as the API server has it, and what Crossplane's annotations on it mean (crossplane-runtime 2.3, pkg/meta). */
import type { Properties } from "../../aws/properties.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Managed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: {
    readonly forProvider: Properties;
    readonly initProvider?: Properties;
    readonly managementPolicies?: readonly Action[];
    readonly providerConfigRef: { readonly kind: string; readonly name: string };
    readonly writeConnectionSecretToRef?: { readonly name: string };
  };
  readonly status?: {
    readonly atProvider?: Properties;
    readonly conditions?: readonly Condition[];
  };
}

export type Action = "Observe" | "Create" | "Update" | "Delete" | "LateInitialize" | "*";

export const FINALIZER = "finalizer.managedresource.crossplane.io";

export const annotationKeys = {
  externalName: "crossplane.io/external-name",
  paused: "crossplane.io/paused",
  createPending: "crossplane.io/external-create-pending",
  createSucceeded: "crossplane.io/external-create-succeeded",
  createFailed: "crossplane.io/external-create-failed",
} as const;

const annotation = ({ metadata }: Pick<Managed, "metadata">, key: keyof typeof annotationKeys): string | undefined =>
  metadata.annotations?.[annotationKeys[key]] || undefined;

export const externalName = (managed: Pick<Managed, "metadata">): string | undefined =>
  annotation(managed, "externalName");

export const isDeleted = ({ metadata }: Managed): boolean => metadata.deletionTimestamp !== undefined;

/** Whether the controller may take an action; all by default. */
export function allows({ spec }: Managed, action: Exclude<Action, "*">): boolean {
  const policies = spec.managementPolicies ?? ["*"];
  return policies.includes("*") || policies.includes(action);
}

/** Paused by annotation, or by management policies that allow nothing. */
export const isPaused = (managed: Managed): boolean =>
  annotation(managed, "paused") === "true" || managed.spec.managementPolicies?.length === 0;

/** Sets of management policies that Crossplane supports; others are mistakes. Without Observe nothing can be done. */
export function policyMistake({ spec }: Managed): string | undefined {
  const policies = spec.managementPolicies ?? ["*"];
  if (policies.includes("*") || policies.includes("Observe")) return undefined;
  return `spec.managementPolicies [${policies.join(", ")}] is not supported: it must contain "*" or "Observe"`;
}

/** A creation began, and nothing says how it ended: the controller was killed meanwhile. */
export function creationIsIncomplete(managed: Managed): boolean {
  const pending = annotation(managed, "createPending");
  if (pending === undefined) return false;
  const ends = [annotation(managed, "createSucceeded"), annotation(managed, "createFailed")];
  return ends.every((end) => end === undefined || Date.parse(end) < Date.parse(pending));
}

/** Whether a person has said how a creation ended, which calls for a pass. */
export const isTold = (before: Managed, managed: Managed): boolean =>
  creationIsIncomplete(before) && !creationIsIncomplete(managed);

const isReady = ({ status }: Managed): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") ?? false;

const hasId = ({ status }: Managed): boolean => Boolean(status?.atProvider?.["id"]);

/** Whether a change lets resources that failed for want of this one succeed: it has got its ID, which references read, or become Ready. */
export const unblocksOthers = (before: Managed, managed: Managed): boolean =>
  (hasId(managed) && !hasId(before)) || (isReady(managed) && !isReady(before));

/** `namespace/name`. */
export const keyOf = ({ metadata }: Pick<Managed, "metadata">): string => `${metadata.namespace}/${metadata.name}`;

type ConditionChange = Omit<Condition, "lastTransitionTime" | "observedGeneration">;

/** Conditions with some replaced; the time of transition stays where status, reason and message do. */
export function withConditions(
  managed: Managed,
  changes: readonly ConditionChange[],
  now: () => Date = () => new Date(),
): Condition[] {
  const before = managed.status?.conditions ?? [];
  const kept = before.filter(({ type }) => !changes.some((change) => change.type === type));
  const changed = changes.map((change): Condition => {
    const old = before.find(({ type }) => type === change.type);
    const same = old?.status === change.status && old.reason === change.reason && old.message === change.message;
    return {
      ...change,
      observedGeneration: managed.metadata.generation,
      lastTransitionTime: same
        ? old.lastTransitionTime
        : now()
            .toISOString()
            .replace(/\.\d+Z$/, "Z"),
    };
  });
  return [...kept, ...changed].sort((a, b) => (a.type < b.type ? -1 : 1));
}

const condition = (type: string, status: "True" | "False", reason: string, message?: string): ConditionChange => ({
  type,
  status,
  reason,
  ...(message && { message }),
});

/** The conditions that Crossplane's managed resources have (crossplane apis, core/v2). */
export const conditionOf = {
  available: condition("Ready", "True", "Available"),
  creating: condition("Ready", "False", "Creating"),
  deleting: condition("Ready", "False", "Deleting"),
  success: condition("Synced", "True", "ReconcileSuccess"),
  paused: condition(
    "Synced",
    "False",
    "ReconcilePaused",
    "Reconciliation is paused either through the `spec.managementPolicies` or the pause annotation",
  ),
  error: (message: string) => condition("Synced", "False", "ReconcileError", message),
  /** Upjet's condition for long operations. */
  lastOperation: (error?: { reason: string; message: string }) =>
    error
      ? condition("LastAsyncOperation", "False", error.reason, error.message)
      : condition("LastAsyncOperation", "True", "Success"),
} as const;

/**
 * The part of an object whose change calls for a pass: specification, labels, annotations (except the controller's own),
 * finalizers of other controllers, and deletion. A change of status does not.
 */
export function desiredState({ metadata, spec }: Managed): string {
  // crossplane-runtime, pkg/resource/predicates.go: a person who removes the first or the last of them calls for nothing.
  const own: readonly string[] = [
    annotationKeys.createPending,
    annotationKeys.createSucceeded,
    annotationKeys.createFailed,
  ];
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !own.includes(key));
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  return JSON.stringify([
    metadata.generation,
    metadata.deletionTimestamp,
    metadata.labels,
    annotations,
    finalizers,
    spec.managementPolicies,
  ]);
}
