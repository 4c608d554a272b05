/** Waiting for objects: until they are ready, until they are gone. */
import { setTimeout as sleep } from "node:timers/promises";
import { givenText, type JsonMap, type Log } from "../framework/index.ts";
import { ApiError, type Client, isNotFound, UnreachableError } from "./client.ts";
import { diagnose } from "./diagnosis.ts";
import { at, groupKind, type KubeObject, parseWaitFor, type Readiness, readiness } from "./readiness.ts";

/** How long an object may take, in seconds, when neither customTimeouts nor an annotation says otherwise: as in the official provider. */
const DEFAULT_TIMEOUT_SECONDS = 600;
const POLL_MS = 1000;
const ANNOTATION = {
  skip: "pulumi.com/skipAwait",
  waitFor: "pulumi.com/waitFor",
  timeout: "pulumi.com/timeoutSeconds",
  propagation: "pulumi.com/deletionPropagationPolicy",
};
/** Annotations of the official provider that this one does not implement. Others under pulumi.com belong to others, e.g. Pulumi's operator. */
const REFUSED = ["pulumi.com/patchFieldManager", "pulumi.com/replaceUnready"];
/** What a deletion may do with the objects that belong to the deleted one. */
const PROPAGATION = ["Foreground", "Background", "Orphan"];

/** What a wait works with. */
export interface WaitContext {
  readonly client: Client;
  /** Path of the object. */
  readonly path: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly timeoutSeconds: number | undefined;
}

function annotation(object: JsonMap, name: string): string | undefined {
  const value = at(object, "metadata", "annotations", name);
  return typeof value === "string" ? value : undefined;
}

/** True when the object's annotation says not to wait for it. */
export function skipsAwait(object: JsonMap): boolean {
  return annotation(object, ANNOTATION.skip) === "true";
}

/** Seconds that a wait for the object may take. @throws for an annotation that is not a number. */
export function timeoutOf(object: JsonMap, custom: number | undefined): number {
  const text = annotation(object, ANNOTATION.timeout);
  if (custom !== undefined || text === undefined) return custom ?? DEFAULT_TIMEOUT_SECONDS;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new Error(`annotation ${ANNOTATION.timeout}: got '${text}', allowed is a whole number of seconds from 1`);
}

/** How a deletion goes on to what belongs to the object: Foreground unless its annotation says otherwise. @throws for any other value. */
export function propagationOf(object: JsonMap): string {
  const text = annotation(object, ANNOTATION.propagation) ?? "Foreground";
  const policy = PROPAGATION.find((name) => name.toLowerCase() === text.toLowerCase());
  if (policy !== undefined) return policy;
  throw new Error(`annotation ${ANNOTATION.propagation}: got '${text}', allowed are ${PROPAGATION.join(", ")}`);
}

/** Wrong annotations are found before anything is created. */
export function checkAnnotations(object: JsonMap): void {
  const refused = REFUSED.find((name) => annotation(object, name) !== undefined);
  if (refused !== undefined)
    throw new Error(
      `the stand-in provider kubernetes does not implement the annotation ${refused}: leave it out, or use the official plugin (FLEET_PULUMI_PLUGINS=official)`,
    );
  timeoutOf(object, undefined);
  propagationOf(object);
  const waitFor = annotation(object, ANNOTATION.waitFor);
  if (waitFor !== undefined) parseWaitFor(waitFor);
}

/** How ready the object is now: by its kind, by its annotation, by what belongs to it. */
export async function currentReadiness(client: Client, object: KubeObject): Promise<Readiness> {
  const own = readiness(object);
  if (!own.ready && (await isLateBinding(client, object))) return { ready: true, message: "binds when it is used" };
  const waitFor = annotation(object, ANNOTATION.waitFor);
  const state = own.ready && waitFor !== undefined ? parseWaitFor(waitFor)(object) : own;
  return state.ready ? serviceEndpoints(client, object) : state;
}

/** A Service with a selector is of use when something is behind it. */
async function serviceEndpoints(client: Client, object: KubeObject): Promise<Readiness> {
  const ready: Readiness = { ready: true, message: "ready" };
  const selector = at(object, "spec", "selector");
  const headless = at(object, "spec", "clusterIP") === "None";
  if (groupKind(object) !== "/Service" || headless || !selector || Object.keys(selector).length === 0) return ready;
  if (at(object, "spec", "type") === "ExternalName") return ready;
  const { namespace, name } = object["metadata"] as { namespace: string; name: string };
  const list = await client.request({
    method: "GET",
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${name}` },
  });
  const endpoints = (list["items"] as JsonMap[]).flatMap((slice) => (slice["endpoints"] as JsonMap[] | null) ?? []);
  // `ready` unset counts as ready (EndpointConditions in discovery.k8s.io/v1).
  if (endpoints.some((endpoint) => at(endpoint, "conditions", "ready") !== false)) return ready;
  return { ready: false, message: "no pod behind the service is ready yet" };
}

/** A claim whose storage class binds at first use stays Pending until a pod comes. */
async function isLateBinding(client: Client, object: KubeObject): Promise<boolean> {
  const name = givenText(at(object, "spec", "storageClassName"));
  const pending = at(object, "status", "phase") === "Pending";
  if (groupKind(object) !== "/PersistentVolumeClaim" || !pending || name === undefined) return false;
  try {
    const path = `/apis/storage.k8s.io/v1/storageclasses/${encodeURIComponent(name)}`;
    return (await client.request({ method: "GET", path }))["volumeBindingMode"] === "WaitForFirstConsumer";
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** What came of a wait. */
export interface Awaited {
  /** As it was last. */
  readonly object: KubeObject;
  /** Why it is not ready, with what pods and events say; empty when it is. */
  readonly reasons: readonly string[];
}

/** Waits until the object is ready, fails for good, the time is up or the update is cancelled. */
export async function awaitReady(object: KubeObject, context: WaitContext): Promise<Awaited> {
  if (skipsAwait(object)) return { object, reasons: [] };
  const { client, log, signal } = context;
  const seconds = timeoutOf(object, context.timeoutSeconds);
  const deadline = Date.now() + seconds * 1000;
  let current = object;
  for (;;) {
    const state = await tolerating(() => currentReadiness(client, current));
    const {
      ready,
      message,
      failed = false,
    } = state instanceof Error ? { ready: false, message: state.message } : state;
    if (ready) return { object: current, reasons: [] };
    if (signal.aborted && !failed) return { object: current, reasons: [`cancelled while waiting: ${message}`] };
    if (failed || Date.now() >= deadline) {
      const reason = failed ? message : `not ready within ${seconds} s: ${message}`;
      return { object: current, reasons: [...new Set([reason, ...(await diagnose(client, current))])] };
    }
    log.status(message);
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    const found = await tolerating(() => client.request({ method: "GET", path: context.path }));
    if (!(found instanceof Error)) current = found as KubeObject;
  }
}

/** A server that is away for a moment (it restarts) is one more thing to wait for: its error is returned. */
async function tolerating<T>(ask: () => Promise<T>): Promise<T | Error> {
  try {
    return await ask();
  } catch (error) {
    if (isTemporary(error)) return error as Error;
    throw error;
  }
}

function isTemporary(error: unknown): boolean {
  return (
    error instanceof UnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
  );
}

/** Waits until the object is gone, or another one has its name. @throws when the time is up, with what holds it. */
export async function awaitGone(object: KubeObject, { client, path, log, signal, timeoutSeconds }: WaitContext) {
  const seconds = timeoutOf(object, timeoutSeconds);
  const deadline = Date.now() + seconds * 1000;
  let held = "it is being deleted";
  for (;;) {
    try {
      const current = await client.request({ method: "GET", path });
      const { uid, finalizers = [] } = current["metadata"] as { uid?: string; finalizers?: string[] };
      if (uid !== at(object, "metadata", "uid")) return;
      held = finalizers.length > 0 ? `finalizers ${finalizers.join(", ")} hold it` : "it is being deleted";
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isTemporary(error)) throw error;
    }
    if (Date.now() >= deadline) throw new Error(`${object.kind} ${path} is not gone within ${seconds} s: ${held}`);
    if (signal.aborted) throw new Error(`cancelled while ${object.kind} ${path} is being deleted: ${held}`);
    log.status(held);
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
