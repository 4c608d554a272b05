import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { Document, isCollection, isPair, parse, stringify } from "yaml";

type Fields = Record<string, unknown>;

/** Marks a field of the base that the other value doesn't have. */
const ABSENT = "(absent)";

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const WIDTH = 140;
const unfolded = { lineWidth: 0, aliasDuplicateObjects: false };

/** Writes fields and lists that fit into a line in one, with all tags of a resource, for example. */
function fold(node: unknown, indent: number, key = ""): void {
  if (!isCollection(node)) return;
  const line = stringify(node.toJSON(), { ...unfolded, collectionStyle: "flow" }).trimEnd();
  node.flow = `${key}: ${line}`.length + indent <= WIDTH;
  if (node.flow) return;
  for (const item of node.items) {
    if (isPair(item)) fold(item.value, indent + 2, String(item.key));
    else fold(item, indent + 2);
  }
}

export function written(value: Fields): string {
  const document = new Document(value, unfolded);
  for (const key of Object.keys(value)) fold(document.get(key, true), 0, key);
  return document.toString(unfolded);
}

/** The fields of `value` that differ from `base`, at any depth; lists are compared whole. */
export function difference(base: Fields, value: Fields): Fields {
  const changed = Object.keys({ ...base, ...value }).filter((key) => !isDeepStrictEqual(base[key], value[key]));
  return Object.fromEntries(
    changed.map((key) => {
      const [before, after] = [base[key], value[key]];
      if (!(key in value)) return [key, ABSENT];
      return [key, isFields(before) && isFields(after) ? difference(before, after) : after];
    }),
  );
}

/** `base` with a {@link difference}. */
export function withDifference(base: Fields, change: Fields): Fields {
  const kept = Object.entries({ ...base, ...change }).filter(([key]) => change[key] !== ABSENT);
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const before = base[key];
      return [key, key in change && isFields(before) && isFields(value) ? withDifference(before, value) : value];
    }),
  );
}

/**
 * Expects `value` to be what a golden file has: all of it, or the difference from `base`, another value with a golden file.
 * `npm run generate` writes the file.
 */
export async function expectGolden(file: string, value: Fields, base?: Fields): Promise<void> {
  const plain = parse(written(value)) as Fields;
  const from = base && (parse(written(base)) as Fields);
  const text = written(from ? difference(from, plain) : plain);
  if (from) expect(withDifference(from, parse(text) as Fields), `${file}: base and difference`).toEqual(plain);
  await expect(text).toMatchFileSnapshot(file, "npm run generate");
}
