import { isSchema, type Schema } from "../../../lib/openapi.ts";
import { isObject } from "../../render/files.ts";
import { duration } from "./expressions.ts";

/** Values of objects as CEL sees them, by their schema (Kubernetes documentation, "Type checking" of validation rules). */

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: readonly (readonly [string, string])[] = [
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
];

/** The name of a property in an expression. */
export function escaped(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[./-]/g, (part) => escapes.find(([from]) => from === part)?.[1] as string);
}

/** The property that a name in an expression stands for. */
export function unescaped(name: string): string {
  const [, word = ""] = /^__(\w+)__$/.exec(name) ?? [];
  if (reserved.has(word)) return word;
  return name.replaceAll(/__[a-z]+?__/g, (part) => escapes.find(([, to]) => to === part)?.[0] ?? part);
}

const text: Schema = { type: "string" };

/** Members that rules can read in every object, besides those of its definition. */
const header: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: "object", properties: { name: text, generateName: text } },
};

const isWholeObject = (schema: Schema): boolean => schema["x-kubernetes-embedded-resource"] === true;

/** The schema of a whole object. */
export const asWhole = (schema: Schema): Schema => ({ ...schema, properties: { ...schema.properties, ...header } });

/** A value of which nothing is known. */
function natural(value: unknown): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(natural);
  return isObject(value) ? new Map(Object.entries(value).map(([key, inner]) => [key, natural(inner)])) : value;
}

/** Text that does not have its format, as far as this code can tell: CEL has no type for it, so a rule that reads it is not evaluated. */
class UnreadableText {}
const unreadable = new UnreadableText();

function timestamp(value: string): unknown {
  const date = new Date(value);
  return /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(date.getTime()) ? date : unreadable;
}

function textual(format: unknown, value: string): unknown {
  if (format === "byte") return new Uint8Array(Buffer.from(value, "base64"));
  if (format === "date" || format === "date-time") return timestamp(value);
  return format === "duration" ? (duration(value) ?? unreadable) : value;
}

const sortKey = (schema: Schema, item: unknown): string => {
  const keys = (schema["x-kubernetes-list-map-keys"] ?? []) as string[];
  return JSON.stringify(isObject(item) ? keys.map((key) => item[key]) : item);
};

/** The items of a list. Those of a set or a map list are sorted, because their order has no meaning and rules compare them by `==`. */
function listed(schema: Schema, items: readonly unknown[]): unknown[] {
  const isOrdered = !["set", "map"].includes(schema["x-kubernetes-list-type"] as string);
  const order = (a: unknown, b: unknown) => (sortKey(schema, a) < sortKey(schema, b) ? -1 : 1);
  return (isOrdered ? items : items.toSorted(order)).map((item) => celValue(schema.items ?? {}, item));
}

/** Only members of the schema; null counts as absent. */
function structured(schema: Schema, value: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const { properties = {}, additionalProperties } = schema;
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  const of = isSchema(additionalProperties) ? additionalProperties : isOpen ? {} : undefined;
  return new Map(
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (own) return inner === null ? [] : [[escaped(key), celValue(own, inner)]];
      return of ? [[key, celValue(of, inner)]] : [];
    }),
  );
}

export function celValue(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return schema.type === "array" ? listed(schema, value) : natural(value);
  if (isObject(value)) {
    if (schema.type !== "object") return natural(value);
    return structured(isWholeObject(schema) ? asWhole(schema) : schema, value);
  }
  if (typeof value === "number") return schema.type === "number" ? value : natural(value);
  return typeof value === "string" && schema.type === "string" ? textual(schema["format"], value) : value;
}
