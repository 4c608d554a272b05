/** Between what the program asked for and what the API server has. */
import { quantityToScalar } from "@kubernetes/client-node/dist/util.js";
import { type Json, type JsonMap, textOf } from "../framework/index.ts";
import { at } from "./readiness.ts";

/** Metadata that only the server sets. */
const SERVER_METADATA = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
];
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The object without nulls, for requests. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key, withoutNulls(member)]),
  );
}

/** The object as recorded in the state: everything but the bookkeeping of field managers. */
export function recordedObject(object: JsonMap): JsonMap {
  const { managedFields: _, ...metadata } = object["metadata"] as JsonMap;
  return { ...object, metadata };
}

/** Inputs that would make an existing object what it is: without what only the server sets. */
export function inputsOf(object: JsonMap): JsonMap {
  const { status: _, ...rest } = object;
  const metadata = Object.entries(object["metadata"] as JsonMap).filter(([key]) => !SERVER_METADATA.includes(key));
  const cleaned = Object.fromEntries(
    metadata.map(([key, value]) => [key, key === "annotations" ? withoutLastApplied(value) : value]),
  );
  return { ...rest, metadata: cleaned };
}

function withoutLastApplied(annotations: Json): Json {
  return Object.fromEntries(Object.entries(annotations as JsonMap).filter(([key]) => key !== LAST_APPLIED));
}

/**
 * The recorded inputs with the values that the object has now, so that a refresh shows drift in what the program set and nothing else.
 * Values that mean the same (quantities: `1000m` and `1`) and empty ones that the server leaves out count as unchanged.
 */
export function driftedInputs(inputs: JsonMap, live: JsonMap): JsonMap {
  const entries = Object.entries(inputs).map(([key, value]) => {
    if (key === "stringData") return [key, driftedStringData(value, live)];
    return [key, live[key] === undefined || key === "status" ? value : project(value, live[key])];
  });
  return Object.fromEntries(entries) as JsonMap;
}

/** `stringData` is write-only: what became of it stands in `data`. */
function driftedStringData(stringData: Json, live: JsonMap): Json {
  const entries = Object.keys(stringData as JsonMap).flatMap((key) => {
    const now = at(live, "data", key);
    return typeof now === "string" ? [[key, Buffer.from(now, "base64").toString("utf8")]] : [];
  });
  return Object.fromEntries(entries) as JsonMap;
}

function project(recorded: Json, live: Json): Json {
  if (Array.isArray(recorded) && Array.isArray(live)) return projectList(recorded, live);
  if (isObject(recorded) && isObject(live)) return projectObject(recorded, live);
  return sameQuantity(recorded, live) ? recorded : live;
}

function projectObject(recorded: JsonMap, live: JsonMap): JsonMap {
  const entries = Object.entries(recorded).flatMap(([key, value]) => {
    const now = live[key];
    if (now !== undefined) return [[key, project(value, now)]];
    return isEmpty(value) ? [[key, value]] : [];
  });
  return Object.fromEntries(entries) as JsonMap;
}

/** Lists of named items are compared by name (admission may add items), others by position. */
function projectList(recorded: Json[], live: Json[]): Json[] {
  if (recorded.length > 0 && recorded.every((item) => isObject(item) && typeof item["name"] === "string")) {
    return recorded.flatMap((item) => {
      const now = live.find((other) => isObject(other) && other["name"] === (item as JsonMap)["name"]);
      return now === undefined ? [] : [project(item, now)];
    });
  }
  if (recorded.length !== live.length) return live;
  return recorded.map((item, index) => project(item, live[index] as Json));
}

function isObject(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "" || value === false || value === 0) return true;
  return typeof value === "object" && Object.values(value).every((member) => isEmpty(member as Json));
}

const QUANTITY = /^[+-]?\d+(\.\d+)?(e[+-]?\d+|[numkKMGTPE]i?)?$/;

/** True for two notations of one quantity: resource amounts are rewritten by the server. */
export function sameQuantity(left: Json, right: Json): boolean {
  const [a, b] = [textOf(left), textOf(right)];
  if (a === b) return true;
  if (!QUANTITY.test(a) || !QUANTITY.test(b)) return false;
  try {
    return Number(quantityToScalar(a)) === Number(quantityToScalar(b));
  } catch {
    // Looks like a quantity and is none (a version, a hash): then only equal texts are the same.
    return false;
  }
}
