import { isDeepStrictEqual } from "node:util";
import { isMap, isNode, isSeq, type Node, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";
import { UsageError } from "../usage.ts";

/** The lists of sealing keys in the file of a hub's stack. They are changed in the text: the file belongs to a person and to `pulumi config set`. */

export interface KeyName {
  readonly scope: string;
  readonly generation: string;
}

export interface ListedKey extends KeyName {
  readonly active: boolean;
}

const formerSchema = z.array(z.looseObject({ scope: z.string(), generation: z.string() }));
const listSchema = z.array(z.object({ scope: z.string(), generation: z.string(), active: z.boolean() }));

/** A key as a line of the list. */
export const listedKey = ({ scope, generation, active }: ListedKey): string =>
  `{ scope: ${scope}, generation: "${generation}", active: ${active} }`;

/** The list in the text of a stack's file. @param key `<project>:sealingKeys` @throws UsageError when it has another form */
export function listedKeys(text: string, key: string, stack: string): ListedKey[] {
  const read = listSchema.safeParse(parseDocument(text).toJS()?.config?.[key] ?? []);
  if (read.success) return read.data;
  throw new UsageError(
    `${key} in the file of stack ${stack} is not a list of { scope, generation, active }: ${z.prettifyError(read.error)}\nfleet doctor --stack ${stack} says more`,
  );
}

/**
 * Keys in the list formerSealingKeys in the text of a stack's file.
 * @param key `<project>:formerSealingKeys`
 * @throws UsageError when it has another form
 */
export function formerKeys(text: string, key: string, stack: string): (KeyName & Record<string, unknown>)[] {
  const read = formerSchema.safeParse(parseDocument(text).toJS()?.config?.[key] ?? []);
  if (read.success) return read.data;
  throw new UsageError(
    `${key} in the file of stack ${stack} is not a list of { scope, generation, arn, certificate }: ${z.prettifyError(read.error)}\nfleet doctor --stack ${stack} says more`,
  );
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;
const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;
/** Behind the line on which a node ends. */
function lineEnd(text: string, node: Node): number {
  const end = text.indexOf("\n", Math.max(startOf(node), (node.range?.[1] ?? 0) - 1));
  return end === -1 ? text.length : end + 1;
}

const is = (node: YAMLMap, { scope, generation }: KeyName): boolean =>
  node.get("scope") === scope && node.get("generation") === generation;

/** Whether a key has the scope and the generation of another. */
export const isSameKey =
  (a: KeyName) =>
  (b: KeyName): boolean =>
    a.scope === b.scope && a.generation === b.generation;

const itemsOf = (text: string, key: string): YAMLMap[] => {
  const list = parseDocument(text).getIn(["config", key], true);
  return isSeq(list) ? list.items.filter(isMap) : [];
};

const removal = (text: string, from: Node, to: Node): Edit => ({
  ...{ from: lineStart(text, startOf(from)), to: lineEnd(text, to), text: "" },
});

/** The text with all edits, which don't overlap. */
const edited = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((now, edit) => now.slice(0, edit.from) + edit.text + now.slice(edit.to), text);

/** The edits that make a list from another; none for what has no lines of its own, which shows afterwards. */
function editsFor(
  text: string,
  items: readonly YAMLMap[],
  before: readonly ListedKey[],
  after: readonly ListedKey[],
): Edit[] {
  const nodeOf = (key: ListedKey) => items.find((item) => is(item, key));
  const removed = before.filter((key) => !after.some(isSameKey(key))).flatMap((key) => nodeOf(key) ?? []);
  const added = after.filter((key) => !before.some(isSameKey(key)));
  const switched = after.filter((key) => before.find(isSameKey(key))?.active === !key.active);
  return [
    ...removed.map((node) => removal(text, node, node)),
    ...switched.flatMap((key) => {
      const value = nodeOf(key)?.get("active", true);
      const [from, to] = (isNode(value) && value.range) || [];
      return from === undefined || to === undefined ? [] : [{ from, to, text: String(key.active) }];
    }),
    // What is inserted at one place later stands before what was inserted there earlier.
    ...added.toReversed().flatMap((key) => {
      const beside = items.findLast((item) => item.get("scope") === key.scope) ?? items.at(-1);
      if (beside === undefined) return [];
      const [indent = ""] = /^\s*/.exec(text.slice(lineStart(text, startOf(beside)), startOf(beside))) ?? [];
      const at = lineEnd(text, beside);
      const line = `${indent}- ${listedKey(key)}\n`;
      return [{ from: at, to: at, text: text.slice(0, at).endsWith("\n") ? line : `\n${line}` }];
    }),
  ];
}

/** The text of a stack's file with another list; all else stays, comments too. @throws UsageError when the list has no lines of its own */
export function withKeys(text: string, key: string, stack: string, wanted: readonly ListedKey[]): string {
  const changed = edited(text, editsFor(text, itemsOf(text, key), listedKeys(text, key, stack), wanted));
  const byName = (keys: readonly ListedKey[]) =>
    new Map(keys.map((each) => [`${each.scope}/${each.generation}`, each]));
  if (isDeepStrictEqual(byName(listedKeys(changed, key, stack)), byName(wanted))) return changed;
  throw new UsageError(
    `${key} in the file of stack ${stack} has no line for each generation; write it as\n${wanted.map((each) => `    - ${listedKey(each)}`).join("\n")}`,
  );
}

/**
 * The text of a stack's file without some former keys; without the list when none are left. All else stays.
 * @param key `<project>:formerSealingKeys`
 * @throws UsageError when the list has no lines of its own
 */
export function withoutFormer(text: string, key: string, stack: string, gone: readonly KeyName[]): string {
  const before = formerKeys(text, key, stack);
  const left = before.filter((each) => !gone.some(isSameKey(each)));
  if (left.length === before.length) return text;
  const config = parseDocument(text).get("config");
  const pair = isMap(config) ? config.items.find((each) => isNode(each.key) && String(each.key) === key) : undefined;
  const items = itemsOf(text, key).filter((item) => gone.some((each) => is(item, each)));
  const whole = isNode(pair?.key) && isNode(pair.value) ? [removal(text, pair.key, pair.value)] : [];
  const changed = edited(text, left.length === 0 ? whole : items.map((item) => removal(text, item, item)));
  const hasOthers = isDeepStrictEqual(
    { ...parseDocument(changed).toJS()?.config, [key]: left },
    { ...parseDocument(text).toJS()?.config, [key]: left },
  );
  if (hasOthers && isDeepStrictEqual(formerKeys(changed, key, stack), left)) return changed;
  throw new UsageError(
    `${key} in the file of stack ${stack} has no line for each generation: take ${gone.map(({ scope, generation }) => `${scope}/${generation}`).join(", ")} out by hand`,
  );
}
