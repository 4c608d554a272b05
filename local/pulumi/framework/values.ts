/**
 * Pulumi property values as a provider sees them: JSON plus the values that JSON cannot say.
 *
 * Source of the wire format: sdk/go/common/resource/plugin/rpc.go of Pulumi 3.250 (signatures and sentinels).
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

/** A value with the URNs of the resources it depends on (inputs of remote components). */
export class OutputValue {
  readonly kind = "output";
  readonly value: Value;
  readonly secret: boolean;
  readonly dependencies: readonly string[];
  constructor(value: Value, secret: boolean, dependencies: readonly string[]) {
    this.value = value;
    this.secret = secret;
    this.dependencies = dependencies;
  }
}

/** An asset or archive: its fields (`path`, `text`, `uri`, `hash`, `assets`) are passed on as received. */
export class Asset {
  readonly kind: "asset" | "archive";
  readonly fields: PropertyMap;
  constructor(kind: "asset" | "archive", fields: PropertyMap) {
    this.kind = kind;
    this.fields = fields;
  }
}

/** A reference to another resource, e.g. a component argument that takes a resource. */
export class ResourceReference {
  readonly kind = "resource";
  readonly urn: string;
  /** Missing for components; UNKNOWN while the resource is not created. */
  readonly id: string | Unknown | undefined;
  readonly packageVersion: string;
  constructor(urn: string, id: string | Unknown | undefined, packageVersion: string) {
    this.urn = urn;
    this.id = id;
    this.packageVersion = packageVersion;
  }
}

/** Everything that a property can be. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Value[]
  | PropertyMap
  | Unknown
  | Secret
  | OutputValue
  | Asset
  | ResourceReference;
/** Properties by name. */
export interface PropertyMap {
  [key: string]: Value;
}

/** True for a plain object (a map of properties), false for arrays, scalars and the special values. */
export function isMap(value: unknown): value is PropertyMap {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** The value with every secret and output wrapper removed; unknowns, assets and references stay. */
export function reveal(value: Value): Value {
  if (value instanceof Secret || value instanceof OutputValue) return reveal(value.value);
  if (Array.isArray(value)) return value.map(reveal);
  if (isMap(value)) return mapValues(value, reveal);
  return value;
}

/** {@link reveal} for a map. */
export function revealMap(map: PropertyMap): PropertyMap {
  return mapValues(map, reveal);
}

/** True when the value is unknown or holds an unknown anywhere. */
export function hasUnknown(value: Value): boolean {
  if (value instanceof Unknown) return true;
  if (value instanceof Secret || value instanceof OutputValue) return hasUnknown(value.value);
  if (value instanceof ResourceReference) return value.id instanceof Unknown;
  if (value instanceof Asset) return hasUnknown(value.fields);
  if (Array.isArray(value)) return value.some(hasUnknown);
  return isMap(value) && Object.values(value).some(hasUnknown);
}

/** True when the value is secret or holds a secret anywhere. */
export function hasSecret(value: Value): boolean {
  if (value instanceof Secret) return true;
  if (value instanceof OutputValue) return value.secret || hasSecret(value.value);
  if (value instanceof Asset) return hasSecret(value.fields);
  if (Array.isArray(value)) return value.some(hasSecret);
  return isMap(value) && Object.values(value).some(hasSecret);
}

/**
 * The value as plain JSON, without secret wrappers.
 * @throws {TypeError} naming the path when the value holds an unknown, an asset or a resource reference.
 */
export function plain(value: Value, path = "value"): Json {
  if (value instanceof Secret || value instanceof OutputValue) return plain(value.value, path);
  if (Array.isArray(value)) return value.map((item, index) => plain(item, `${path}[${index}]`));
  if (isMap(value)) return plainMap(value, path);
  if (typeof value === "object" && value !== null)
    throw new TypeError(`${path}: got a value of kind ${value.kind}, allowed is plain data`);
  return value;
}

/** {@link plain} for a map. */
export function plainMap(map: PropertyMap, path = ""): JsonMap {
  const result: JsonMap = {};
  for (const [key, value] of Object.entries(map)) result[key] = plain(value, path ? `${path}.${key}` : key);
  return result;
}

function mapValues(map: PropertyMap, change: (value: Value) => Value): PropertyMap {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}

/** A value in words: strings as they are, nothing as an empty text, everything else as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Deep equality of two values; unknowns equal nothing, secret wrappers don't count. */
export function equal(left: Value | undefined, right: Value | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [a, b] = [reveal(left), reveal(right)];
  if (a instanceof Unknown || b instanceof Unknown) return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (a instanceof Asset && b instanceof Asset) return a.kind === b.kind && equal(a.fields, b.fields);
  if (a instanceof ResourceReference && b instanceof ResourceReference) return a.urn === b.urn && a.id === b.id;
  if (isMap(a) && isMap(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => Object.hasOwn(a, key) && Object.hasOwn(b, key) && equal(a[key], b[key]));
  }
  return a === b;
}
