/** How a step of a reconciliation fails. */
import type { Observation } from "./external.ts";
import { ConflictError } from "./kube.ts";
import type { Change } from "./object.ts";

/** When to look at the object again: at the next poll, at once, after a pause that grows, or only when it changes. */
export type Outcome = "poll" | "again" | "retry" | "wait";

/** Steps of a pass, and the reason of the event when one fails. */
export const reasons = {
  resolve: "CannotResolveResourceReferences",
  connect: "CannotConnectToProvider",
  observe: "CannotObserveExternalResource",
  create: "CannotCreateExternalResource",
  update: "CannotUpdateExternalResource",
  delete: "CannotDeleteExternalResource",
} as const;
type Step = keyof typeof reasons;

/** Upjet reports these in the condition LastAsyncOperation too. */
export const asyncReasons: { readonly [S in Step]?: string } = {
  create: "AsyncCreateFailure",
  update: "AsyncUpdateFailure",
  delete: "AsyncDeleteFailure",
};

interface FailureDetails {
  readonly conditions?: readonly Change[];
  readonly observed?: Observation;
  /** Default: retry. */
  readonly outcome?: Outcome;
  /** Whether conditions alone report the failure. */
  readonly isEventless?: boolean;
}

/** Ends a pass; its conditions and an event report the failure. */
export class Failure extends Error {
  readonly step: Step;
  readonly details: FailureDetails;

  constructor(step: Step, message: string, details: FailureDetails = {}) {
    super(message);
    this.step = step;
    this.details = details;
  }
}

/** Runs a step of a pass. @throws {Failure} with the error that the step fails with */
export async function attempt<T>(step: Step, run: () => Promise<T>, details: FailureDetails = {}): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ConflictError) throw error;
    throw new Failure(step, messageOf(error), details);
  }
}

/** An error in the words of AWS: its code and message. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.name === "IncompleteError" && error.cause instanceof Error ? error.cause : error;
  const plain = ["Error", "TypeError", "IncompleteError"];
  return plain.includes(inner.name) ? inner.message : `${inner.name}: ${inner.message}`;
}
