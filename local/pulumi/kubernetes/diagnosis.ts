/** Why an object is not ready: what its pods and its events say. */
import { type JsonMap, textOf } from "../framework/index.ts";
import type { Client } from "./client.ts";
import { at, conditions, describeCondition, type KubeObject } from "./readiness.ts";

const MAX_PODS = 3;
const MAX_EVENTS = 3;

/** Lines for the terminal; empty when the cluster says nothing (or no longer answers). */
export async function diagnose(client: Client, object: KubeObject): Promise<string[]> {
  try {
    const pods = object.kind === "Pod" ? [object] : await podsOf(client, object);
    const own = object.kind === "Pod" ? [] : await eventsOf(client, object);
    const troubled = pods.map(describePod).filter((line) => line !== undefined);
    const podEvents = await Promise.all(pods.slice(0, MAX_PODS).map((pod) => eventsOf(client, pod)));
    const state = conditions(object)
      .filter(({ type, status }) => isBad(type, status))
      .map(describeCondition);
    return [...new Set([...state, ...troubled.slice(0, MAX_PODS), ...own, ...podEvents.flat()])];
  } catch (error) {
    return [`(the reason could not be looked up: ${error instanceof Error ? error.message : String(error)})`];
  }
}

/** Conditions are good when True, except those that name a fault. */
function isBad(type: string, status: string): boolean {
  return /Fail|Pressure|Error/.test(type) ? status === "True" : status === "False";
}

async function podsOf(client: Client, object: KubeObject): Promise<JsonMap[]> {
  const labels = at(object, "spec", "selector", "matchLabels");
  const namespace = at(object, "metadata", "namespace");
  if (typeof labels !== "object" || labels === null || typeof namespace !== "string") return [];
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  const list = await client.request({
    method: "GET",
    path: `/api/v1/namespaces/${namespace}/pods`,
    query: { labelSelector },
  });
  return (list["items"] as JsonMap[]).filter((pod) => at(pod, "metadata", "deletionTimestamp") === undefined);
}

function describePod(pod: JsonMap): string | undefined {
  const name = String(at(pod, "metadata", "name"));
  const statuses = ["initContainerStatuses", "containerStatuses"].flatMap(
    (list) => (at(pod, "status", list) as JsonMap[] | undefined) ?? [],
  );
  for (const status of statuses) {
    const state = at(status, "state", "waiting") ?? at(status, "state", "terminated");
    const reason = at(state, "reason");
    if (typeof reason !== "string" || ["ContainerCreating", "PodInitializing", "Completed"].includes(reason)) continue;
    const last = at(status, "lastState", "terminated");
    const exit = last
      ? ` (last exit code ${String(at(last, "exitCode"))}${at(last, "message") ? `: ${String(at(last, "message")).trim()}` : ""})`
      : "";
    const message = at(state, "message");
    return `pod ${name}, container ${String(at(status, "name"))}: ${reason}${message ? `: ${textOf(message)}` : ""}${exit}`;
  }
  const problem = conditions(pod).find(({ type, status }) => type === "PodScheduled" && status === "False");
  return problem && `pod ${name}: ${describeCondition(problem)}`;
}

async function eventsOf(client: Client, object: JsonMap): Promise<string[]> {
  const namespace = at(object, "metadata", "namespace") ?? "default";
  const fieldSelector = `involvedObject.uid=${String(at(object, "metadata", "uid"))},type=Warning`;
  const list = await client.request({
    method: "GET",
    path: `/api/v1/namespaces/${textOf(namespace)}/events`,
    query: { fieldSelector },
  });
  const events = (list["items"] as JsonMap[]).slice(-MAX_EVENTS);
  return events.map((event) => `event ${textOf(event["reason"])}: ${textOf(event["message"])}`);
}
