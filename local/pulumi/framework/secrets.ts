/** Carrying the secret marks of one set of properties over to another. */
import { hasSecret, isMap, type PropertyMap, Secret, type Value } from "./values.ts";

/**
 * `target` with every value secret that is secret in `source` at the same path. Where the path ends earlier in `target`, or where
 * an array changed its length, the nearest value above is marked: rather too much is secret than too little.
 */
export function mirrorSecrets(target: PropertyMap, source: PropertyMap): PropertyMap {
  return Object.fromEntries(
    Object.entries(target).map(([key, value]) => [key, key in source ? mirror(value, source[key] as Value) : value]),
  );
}

function mirror(target: Value, source: Value): Value {
  if (target instanceof Secret) return target;
  if (source instanceof Secret) return new Secret(target);
  if (isMap(source) && isMap(target)) return mirrorMap(target, source);
  if (Array.isArray(source) && Array.isArray(target) && source.length === target.length)
    return target.map((item, index) => mirror(item, source[index] as Value));
  return hasSecret(source) ? new Secret(target) : target;
}

function mirrorMap(target: PropertyMap, source: PropertyMap): Value {
  // A secret member that has no counterpart may live on under another name: mark the whole map.
  const lost = Object.keys(source).some((key) => !(key in target) && hasSecret(source[key] as Value));
  return lost ? new Secret(target) : mirrorSecrets(target, source);
}

/** `map` with the named top-level properties secret. */
export function markSecret(map: PropertyMap, names: readonly string[]): PropertyMap {
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [
      key,
      names.includes(key) && !(value instanceof Secret) ? new Secret(value) : value,
    ]),
  );
}

/** What a plugin keeps beside the outputs (`__inputs`): a copy of what has marks of its own elsewhere, and may be secret as a whole. */
const isCopy = (key: string): boolean => key.startsWith("__");

/** Every string inside a secret of the value, in plain text. */
function secretTexts(value: Value, inside = false): string[] {
  if (value instanceof Secret) return secretTexts(value.value, true);
  if (Array.isArray(value)) return value.flatMap((item) => secretTexts(item, inside));
  if (isMap(value))
    return Object.entries(value).flatMap(([key, item]) => (isCopy(key) ? [] : secretTexts(item, inside)));
  return inside && typeof value === "string" ? [value] : [];
}

/** Shortest text that is taken for a secret in a message; shorter ones occur by chance. */
const SHORTEST_SECRET = 6;

/** `text` with every secret of `values` replaced by `[secret]`. */
export function redact(text: string, values: readonly Value[]): string {
  const secrets = values.flatMap((value) => secretTexts(value)).filter((secret) => secret.length >= SHORTEST_SECRET);
  return [...new Set(secrets)]
    .sort((a, b) => b.length - a.length)
    .reduce((result, secret) => result.replaceAll(secret, "[secret]"), text);
}
