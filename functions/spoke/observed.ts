import { creationFailure } from "./creation-failure.ts";
import { at, condition, goesOn, isReady, type KubeObject, lacksAddress, statusInAws } from "./kube.ts";
import type { Resource } from "./resources.ts";

/** The composed resources as they are in the cluster, by composition resource name. */
export class Observed {
  readonly objects: ReadonlyMap<string, KubeObject>;

  constructor(objects: ReadonlyMap<string, KubeObject>) {
    this.objects = objects;
  }

  has({ key }: Resource): boolean {
    return this.objects.has(key);
  }

  get({ key }: Resource): KubeObject | undefined {
    return this.objects.get(key);
  }

  /** Whether the resource is there and works. */
  ready(resource: Resource): boolean {
    return isReady(this.get(resource));
  }

  /** Text that AWS reported of a managed resource; undefined while it is not known. */
  text(resource: Resource, ...path: readonly (string | number)[]): string | undefined {
    const value = at(this.get(resource)?.status, "atProvider", ...path);
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** {@link text} of a resource that works: for what would fail while it is still being made. */
  readyText(resource: Resource, ...path: readonly (string | number)[]): string | undefined {
    return this.ready(resource) ? this.text(resource, ...path) : undefined;
  }

  number(resource: Resource, ...path: readonly (string | number)[]): number | undefined {
    const value = at(this.get(resource)?.status, "atProvider", ...path);
    return typeof value === "number" ? value : undefined;
  }

  flag(resource: Resource, ...path: readonly (string | number)[]): boolean | undefined {
    const value = at(this.get(resource)?.status, "atProvider", ...path);
    return typeof value === "boolean" ? value : undefined;
  }
}

/** What Flux reports for a release whose chart it has not reconciled yet. */
const notBegun = /latest generation of object has not been reconciled/;

/** Statuses of an EKS cluster or node group that calls for a person. */
export const troubled: readonly string[] = ["CREATE_FAILED", "DEGRADED", "DELETE_FAILED", "FAILED"];

/** What the resource's controller or AWS reports as failed, in its own message; undefined when neither reports a failure. */
export function failureMessage(object: KubeObject): string | undefined {
  const failed = [
    ["Synced", "False"],
    ["LastAsyncOperation", "False"],
    ["Stalled", "True"],
  ].flatMap(([type = "", status]) => {
    const found = condition(object, type);
    return found?.status === status && found?.message ? [found.message] : [];
  });
  if (failed[0] !== undefined) return failed[0];
  const ready = condition(object, "Ready");
  const inAws = statusInAws(object) ?? "";
  // Until a new creation has ended, the provider reports the status of the one before.
  if (troubled.includes(inAws) && ready?.reason !== "Creating") {
    const why = creationFailure(object);
    return `AWS reports the status ${inAws}${why === undefined ? "" : `: ${why}`}`;
  }
  // Before, the provider waits for AWS.
  if (ready?.status === "True" && lacksAddress(object)) return "AWS reports no address of it";
  // HealthCheckCanceled: a new commit came while Flux waited for the previous one; it starts again at once.
  const expected = ["Creating", "Deleting", "Progressing", "DependencyNotReady", "HealthCheckCanceled"];
  return ready?.status === "False" &&
    ready.message &&
    !expected.includes(ready.reason ?? "") &&
    !notBegun.test(ready.message)
    ? ready.message
    : undefined;
}

/** Whether a composed resource works, and its controller has not failed to apply its newest specification. */
export function isHealthy(object: KubeObject | undefined): boolean {
  return object !== undefined && (isReady(object) || goesOn(object)) && failureMessage(object) === undefined;
}
