/**
 * Pulumi property values as a provider sees them: JSON, and values that are secret or not known yet. The engine sends neither output
 * values nor references to resources to a provider that does not accept them, and no type of the stand-ins takes an asset.
 */

import { isDeepStrictEqual } from "node:util";

/** A value that a plain JSON document can hold. */
export type Json = null | boolean | number | string | Json[] | JsonMap;
/** A JSON object. */
export interface JsonMap {
  [key: string]: Json;
}

/** A value that will be known only when something else was created (previews). */
export class Unknown {
  readonly kind = "unknown";
}
/** The one unknown value. */
export const UNKNOWN = new Unknown();

/** A value that is encrypted in the state and hidden in every output. */
export class Secret {
  readonly kind = "secret";
  readonly value: Value;
  constructor(value: Value) {
    this.value = value;
  }
}

/** Everything that a property can be. */
export type Value = null | boolean | number | string | Value[] | PropertyMap | Unknown | Secret;
/** Properties by name. */
export interface PropertyMap {
  [key: string]: Value;
}

/** True for a plain object (a map of properties), false for arrays, scalars and the special values. */
export function isMap(value: unknown): value is PropertyMap {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The value without its secret marks; unknowns stay. */
export function reveal(value: Value): Value {
  if (value instanceof Secret) return reveal(value.value);
  if (Array.isArray(value)) return value.map(reveal);
  return isMap(value) ? revealMap(value) : value;
}

/** {@link reveal} for a map. */
export function revealMap(map: PropertyMap): PropertyMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, reveal(value)]));
}

/** True when the value is unknown or holds an unknown anywhere. */
export const hasUnknown = (value: Value): boolean => holds(value, Unknown);

/** True when the value is secret or holds a secret anywhere. */
export const hasSecret = (value: Value): boolean => holds(value, Secret);

function holds(value: Value, kind: typeof Unknown | typeof Secret): boolean {
  if (value instanceof kind) return true;
  if (value instanceof Secret) return holds(value.value, kind);
  if (Array.isArray(value)) return value.some((item) => holds(item, kind));
  return isMap(value) && Object.values(value).some((member) => holds(member, kind));
}

/**
 * The value as plain JSON, without secret marks.
 * @throws {TypeError} naming the path when the value holds an unknown.
 */
export function plain(value: Value, path = "value"): Json {
  if (value instanceof Secret) return plain(value.value, path);
  if (Array.isArray(value)) return value.map((item, index) => plain(item, `${path}[${index}]`));
  if (isMap(value)) return plainMap(value, path);
  if (value instanceof Unknown) throw new TypeError(`${path}: got a value of kind unknown, allowed is plain data`);
  return value;
}

/** {@link plain} for a map. */
export function plainMap(map: PropertyMap, path = ""): JsonMap {
  const result: JsonMap = {};
  for (const [key, value] of Object.entries(map)) result[key] = plain(value, path ? `${path}.${key}` : key);
  return result;
}

/** A value in words: strings as they are, nothing as an empty text, everything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Deep equality of two values; unknowns equal nothing, secret marks don't count. */
export function equal(left: Value, right: Value): boolean {
  return !hasUnknown(left) && !hasUnknown(right) && isDeepStrictEqual(reveal(left), reveal(right));
}
