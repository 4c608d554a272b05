/** When an object counts as ready, by its kind. */
import { type JsonMap, textOf } from "../framework/index.ts";
import type { GroupKind } from "./kinds.ts";

/** How far an object is. */
export interface Readiness {
  readonly ready: boolean;
  /** What it waits for, in words for the terminal. */
  readonly message: string;
  /** True when waiting longer cannot help. */
  readonly failed?: boolean;
}

/** An object of any kind. */
export type KubeObject = JsonMap & { apiVersion: string; kind: string };

const READY: Readiness = { ready: true, message: "ready" };
const waiting = (message: string): Readiness => ({ ready: false, message });
const failed = (message: string): Readiness => ({ ready: false, message, failed: true });

/** A member of nested objects, undefined when anything on the way is missing. */
export function at(object: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? (value as JsonMap)[key] : undefined),
    object,
  );
}

function number(object: unknown, ...path: string[]): number {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
}

/** A status condition. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: unknown;
}

/** The conditions of an object. */
export function conditions(object: JsonMap): Condition[] {
  const list = at(object, "status", "conditions");
  if (!Array.isArray(list)) return [];
  return list.map((item) => ({
    type: textOf(at(item, "type")),
    status: textOf(at(item, "status")),
    reason: textOf(at(item, "reason")),
    message: textOf(at(item, "message")),
    observedGeneration: at(item, "observedGeneration"),
  }));
}

/** A condition in words. */
export function describeCondition({ type, status, reason, message }: Condition): string {
  return `${type} is ${status}${reason ? ` (${reason})` : ""}${message ? `: ${message}` : ""}`;
}

function byCondition(object: JsonMap, type: string): Readiness {
  const condition = conditions(object).find((item) => item.type === type);
  if (condition?.status === "True") return READY;
  return waiting(condition ? describeCondition(condition) : `there is no condition ${type} yet`);
}

function observed(object: JsonMap): boolean {
  return number(object, "status", "observedGeneration") >= number(object, "metadata", "generation");
}

/** Rollout of a workload: pods of the newest form and available ones, by the names that its status has for them. */
function rollout(object: JsonMap, wanted: number, updatedName: string, availableName: string): Readiness {
  if (!observed(object)) return waiting("waiting for the controller to see the change");
  const progressing = conditions(object).find(({ type }) => type === "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded") return failed(describeCondition(progressing));
  const [updated, available] = [number(object, "status", updatedName), number(object, "status", availableName)];
  const old = Math.max(0, number(object, "status", "replicas") - updated);
  const strategy = at(object, "spec", "updateStrategy");
  // Pods below the partition of a StatefulSet stay as they are, and with OnDelete all do.
  const staying = at(strategy, "type") === "OnDelete" ? wanted : number(strategy, "rollingUpdate", "partition");
  if (updated >= wanted - staying && available >= wanted && old <= staying) return READY;
  const left = old > staying ? `, ${old} old ones left` : "";
  return waiting(`${updated} of ${wanted} pods updated, ${available} available${left}`);
}

const replicas = (object: JsonMap) => Number(at(object, "spec", "replicas") ?? 1);

function job(object: JsonMap): Readiness {
  if (at(object, "spec", "suspend") === true) return READY;
  const all = conditions(object);
  const failure = all.find(({ type, status }) => type === "Failed" && status === "True");
  if (failure) return failed(describeCondition(failure));
  if (all.some(({ type, status }) => type === "Complete" && status === "True")) return READY;
  return waiting(
    `${number(object, "status", "succeeded")} of ${Number(at(object, "spec", "completions") ?? 1)} completions, ${number(object, "status", "active")} pods active`,
  );
}

function pod(object: JsonMap): Readiness {
  const phase = at(object, "status", "phase");
  if (phase === "Succeeded") return READY;
  if (phase === "Failed")
    return failed(textOf(at(object, "status", "message") ?? at(object, "status", "reason") ?? "the pod failed"));
  return byCondition(object, "Ready");
}

function phase(...good: string[]) {
  return (object: JsonMap): Readiness => {
    const current = textOf(at(object, "status", "phase"));
    return good.includes(current)
      ? READY
      : waiting(`phase is ${current || "not set"}, waiting for ${good.join(" or ")}`);
  };
}

function crd(object: JsonMap): Readiness {
  const refused = conditions(object).find(({ type, status }) => type === "NamesAccepted" && status === "False");
  return refused ? failed(describeCondition(refused)) : byCondition(object, "Established");
}

function loadBalanced(object: JsonMap): Readiness {
  const ingress = at(object, "status", "loadBalancer", "ingress");
  return Array.isArray(ingress) && ingress.length > 0 ? READY : waiting("waiting for an address of the load balancer");
}

function service(object: JsonMap): Readiness {
  return at(object, "spec", "type") === "LoadBalancer" ? loadBalanced(object) : READY;
}

const RULES: Readonly<Record<string, (object: JsonMap) => Readiness>> = {
  "apps/Deployment": (object) => rollout(object, replicas(object), "updatedReplicas", "availableReplicas"),
  "apps/StatefulSet": (object) => rollout(object, replicas(object), "updatedReplicas", "readyReplicas"),
  "apps/DaemonSet": (object) =>
    rollout(object, number(object, "status", "desiredNumberScheduled"), "updatedNumberScheduled", "numberAvailable"),
  "batch/Job": job,
  "networking.k8s.io/Ingress": loadBalanced,
  "apiextensions.k8s.io/CustomResourceDefinition": crd,
  "apiregistration.k8s.io/APIService": (object) => byCondition(object, "Available"),
  "/Pod": pod,
  "/Service": service,
  "/Namespace": phase("Active"),
  "/PersistentVolumeClaim": phase("Bound"),
  "/PersistentVolume": phase("Available", "Bound"),
};

/** `group/kind`; the core group is empty. */
export function groupKind({ apiVersion, kind }: GroupKind): string {
  return `${apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : ""}/${kind}`;
}

/** The readiness of an object by its kind; kinds without a rule are ready when they exist. */
export function readiness(object: KubeObject): Readiness {
  return RULES[groupKind(object)]?.(object) ?? READY;
}

/** A condition that an object has to meet besides, from its annotation `pulumi.com/waitFor`. */
export type WaitFor = (object: JsonMap) => Readiness;

/**
 * Reads `pulumi.com/waitFor`: `condition=Ready`, `condition=Ready=False`, `jsonpath={.status.phase}=Running`, `jsonpath={.status.id}` (it
 * exists), or a JSON list of these (all of them).
 * @throws for any other form, with the allowed ones.
 */
export function parseWaitFor(text: string): WaitFor {
  if (text.trimStart().startsWith("[")) {
    const parts = (JSON.parse(text) as string[]).map(parseWaitFor);
    return (object) => parts.map((part) => part(object)).find((result) => !result.ready) ?? READY;
  }
  const condition = /^condition=(\w[\w.-]*)(?:=(\w+))?$/.exec(text);
  if (condition) return waitForCondition(condition[1] as string, condition[2] ?? "True");
  const jsonpath = /^jsonpath=\{?((?:\.[\w-]+|\[\d+\])+)\}?(?:=(.*))?$/.exec(text);
  if (jsonpath) return waitForPath(jsonpath[1] as string, jsonpath[2]);
  throw new Error(
    `annotation pulumi.com/waitFor: got '${text}', allowed are condition=TYPE[=STATUS], jsonpath={.path.to[0].field}[=VALUE] and a JSON list of these`,
  );
}

function waitForCondition(type: string, status: string): WaitFor {
  return (object) => {
    const found = conditions(object).find((item) => item.type.toLowerCase() === type.toLowerCase());
    if (!found) return waiting(`there is no condition ${type} yet`);
    // A condition of an older generation says nothing about the object as it is now.
    const generation = found.observedGeneration ?? at(object, "status", "observedGeneration");
    if (typeof generation === "number" && generation < number(object, "metadata", "generation"))
      return waiting("waiting for the controller to see the change");
    return found.status === status ? READY : waiting(describeCondition(found));
  };
}

function waitForPath(path: string, wanted: string | undefined): WaitFor {
  const keys = [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].map((match) => (match[1] ?? match[2]) as string);
  return (object) => {
    const value = at(object, ...keys);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (wanted === undefined ? value !== undefined && value !== null : text === wanted) return READY;
    return waiting(`${path} is ${text ?? "not set"}${wanted === undefined ? "" : `, waiting for ${wanted}`}`);
  };
}
