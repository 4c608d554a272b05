/** Reading of values whose form nobody has checked: inputs of resources, manifests, IAM documents. */

/** The object, or an empty one for anything else. */
export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The list; a single value is a list of one, as in IAM; nothing is an empty one. */
export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** The string; empty for anything else. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The strings of a list or the single one. */
export function texts(value: unknown): string[] {
  const items = list(value);
  return Array.from({ length: items.length }, (_, index) => text(items[index]));
}

/** Whether a property is set, be its value known or not. */
export function isSet(value: Readonly<Record<string, unknown>>, property: string): boolean {
  return property in value;
}

/** Lists words for people: `a, b and c`. */
export function words(items: readonly string[], empty = "nothing"): string {
  if (items.length < 2) return items[0] ?? empty;
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** A predicate for an IAM-like pattern: `*` for any characters, `?` for one. */
export function glob(pattern: string): (candidate: string) => boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const expression = new RegExp(`^${source}$`, "s");
  return (candidate) => expression.test(candidate);
}

/** The value of a JSON text, undefined when it is none. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
