/**
 * Pulumi property values as a provider sees them: JSON, and values that are secret or not known yet. The engine sends neither output
 * values nor references to resources to a provider that does not accept them, and no type of the stand-ins takes an asset.
 */

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
export function hasUnknown(value: Value): boolean {
  if (value instanceof Unknown) return true;
  if (value instanceof Secret) return hasUnknown(value.value);
  if (Array.isArray(value)) return value.some(hasUnknown);
  return isMap(value) && Object.values(value).some(hasUnknown);
}

/** True when the value is secret or holds a secret anywhere. */
export function hasSecret(value: Value): boolean {
  if (value instanceof Secret) return true;
  if (Array.isArray(value)) return value.some(hasSecret);
  return isMap(value) && Object.values(value).some(hasSecret);
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
export function equal(left: Value | undefined, right: Value | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [a, b] = [reveal(left), reveal(right)];
  if (a instanceof Unknown || b instanceof Unknown) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (isMap(a) && isMap(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => Object.hasOwn(a, key) && Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  return a === b;
}
