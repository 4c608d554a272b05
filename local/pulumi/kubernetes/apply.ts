/** Server-side apply of one object. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonMap, Log } from "../framework/index.ts";
import { ApiError, isNotFound, UnreachableError } from "./client.ts";
import { objectPath, type ServedKind } from "./kinds.ts";
import { withoutNulls } from "./live.ts";
import { at, type KubeObject } from "./readiness.ts";
import type { Session } from "./session.ts";

/** How long a request is repeated that fails for a passing reason (a webhook or the server is just starting). */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 1000;
const FORCE_ANNOTATION = "pulumi.com/patchForce";

/** Where an object is. */
export interface Location {
  readonly served: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly path: string;
  /** Pulumi id: `namespace/name`, or `name` for objects without a namespace. */
  readonly id: string;
}

/** Finds where an object belongs. @throws {ApiError} 404 when its kind is not served. */
export async function locate(session: Session, object: KubeObject): Promise<Location> {
  const served = await session.discovery.find(object);
  const name = String(at(object, "metadata", "name"));
  const given = at(object, "metadata", "namespace");
  const namespace = served.namespaced ? (typeof given === "string" ? given : session.client.namespace) : undefined;
  const id = namespace === undefined ? name : `${namespace}/${name}`;
  return { served, namespace, name, id, path: objectPath(served, namespace, name) };
}

/** Where the object of a Pulumi id is. */
export async function locateId(
  session: Session,
  kind: { apiVersion: string; kind: string },
  id: string,
): Promise<Location> {
  const slash = id.indexOf("/");
  const metadata = slash < 0 ? { name: id } : { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
  return locate(session, { ...kind, metadata });
}

/**
 * The field manager of a resource: its own, so that two resources never share fields by accident, and so that an object that an
 * interrupted update made can be recognised.
 */
export function fieldManager(urn: string): string {
  return `pulumi-kubernetes-${createHash("sha256").update(urn).digest("hex").slice(0, 8)}`;
}

/** Output that keeps the name of the field manager over renames of the resource. */
export const MANAGER_KEY = "__fieldManager";

/** The field manager that made the object, or that of the resource when nothing is recorded. */
export function managerOf(urn: string, state: JsonMap | undefined): string {
  const recorded = state?.[MANAGER_KEY];
  return typeof recorded === "string" ? recorded : fieldManager(urn);
}

/** Options of {@link apply}. */
export interface ApplyOptions {
  readonly manager: string;
  /** Let the server check and default everything, and store nothing. */
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** Applies the object; unknown fields are refused by the API server. */
export async function apply(
  session: Session,
  object: KubeObject,
  location: Location,
  options: ApplyOptions,
): Promise<KubeObject> {
  const force = at(object, "metadata", "annotations", FORCE_ANNOTATION) === "true";
  const body = withoutNulls(owned(object, location.namespace));
  try {
    const applied = await session.client.request({
      method: "PATCH",
      path: location.path,
      query: {
        fieldManager: options.manager,
        fieldValidation: "Strict",
        force: force ? "true" : "false",
        dryRun: options.dryRun ? "All" : undefined,
      },
      contentType: "application/apply-patch+yaml",
      body,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    return applied as KubeObject;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const hint = `annotate the object with ${FORCE_ANNOTATION}: "true" to take the fields over, or leave them out`;
    throw new ApiError(409, error.reason, `${error.message}\n${hint}`);
  }
}

/**
 * The object to apply. One that says nothing but its name gets a label: an object without any field has no owner, and could not be
 * recognised after an interruption.
 */
function owned(object: KubeObject, namespace: string | undefined): JsonMap {
  const metadata = { ...(object["metadata"] as JsonMap), ...(namespace ? { namespace } : {}) };
  const fields = [...Object.keys(object), ...Object.keys(metadata)];
  const bare = fields.every((field) => ["apiVersion", "kind", "metadata", "name", "namespace"].includes(field));
  return {
    ...object,
    metadata: bare ? { ...metadata, labels: { "app.kubernetes.io/managed-by": "pulumi" } } : metadata,
  };
}

/** The object as it is, undefined when it is not there. */
export async function find(session: Session, location: Location): Promise<KubeObject | undefined> {
  try {
    return (await session.client.request({ method: "GET", path: location.path })) as KubeObject;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** True when the object was made by the given manager with server-side apply. */
export function isManagedBy(object: KubeObject, manager: string): boolean {
  const entries = at(object, "metadata", "managedFields");
  return (
    Array.isArray(entries) &&
    entries.some((entry) => at(entry, "manager") === manager && at(entry, "operation") === "Apply")
  );
}

/** Repeats an operation while it fails for a passing reason. */
export async function patiently<T>(
  { signal, log }: { signal: AbortSignal; log: Log },
  operation: () => Promise<T>,
  passing: (error: unknown) => boolean = isPassing,
): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!passing(error) || Date.now() >= deadline || signal.aborted) throw error;
      log.status(`waiting: ${(error as Error).message}`);
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** True for faults that end by themselves: the server or a webhook behind it is just starting, or is busy. */
export function isPassing(error: unknown): boolean {
  if (error instanceof UnreachableError) return isRefusedConnection(error);
  if (!(error instanceof ApiError)) return false;
  return (
    [429, 502, 503, 504].includes(error.status) ||
    (error.status === 500 && /failed calling webhook|etcdserver|context deadline/.test(error.message))
  );
}

function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return ["ECONNREFUSED", "ECONNRESET", "EPIPE"].includes(cause?.code ?? "");
}

/** True when the kind is not served, which passes when its CRD is just being registered. */
export function isUnservedKind(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "NoKindMatch";
}
