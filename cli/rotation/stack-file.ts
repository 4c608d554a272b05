import { isDeepStrictEqual } from "node:util";
import { isMap, isNode, isSeq, type Node, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";
import { UsageError } from "../usage.ts";

/** The list sealingKeys in the file of a hub's stack. It is changed in the text: the file belongs to a person and to `pulumi config set`. */

export interface ListedKey {
  readonly scope: string;
  readonly generation: string;
  readonly active: boolean;
}

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

const is = (node: YAMLMap, { scope, generation }: Omit<ListedKey, "active">): boolean =>
  node.get("scope") === scope && node.get("generation") === generation;

/** The edits that make a list from another; none for what has no lines of its own, which shows afterwards. */
function editsFor(
  text: string,
  items: readonly YAMLMap[],
  before: readonly ListedKey[],
  after: readonly ListedKey[],
): Edit[] {
  const nodeOf = (key: ListedKey) => items.find((item) => is(item, key));
  const same = (a: ListedKey) => (b: ListedKey) => a.scope === b.scope && a.generation === b.generation;
  const removed = before.filter((key) => !after.some(same(key))).flatMap((key) => nodeOf(key) ?? []);
  const added = after.filter((key) => !before.some(same(key)));
  const switched = after.filter((key) => before.find(same(key))?.active === !key.active);
  return [
    ...removed.map((node) => ({ from: lineStart(text, startOf(node)), to: lineEnd(text, node), text: "" })),
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
  const list = parseDocument(text).getIn(["config", key], true);
  const items = isSeq(list) ? list.items.filter(isMap) : [];
  const edits = editsFor(text, items, listedKeys(text, key, stack), wanted).sort((a, b) => b.from - a.from);
  const changed = edits.reduce((now, edit) => now.slice(0, edit.from) + edit.text + now.slice(edit.to), text);
  const byName = (keys: readonly ListedKey[]) =>
    new Map(keys.map((each) => [`${each.scope}/${each.generation}`, each]));
  if (isDeepStrictEqual(byName(listedKeys(changed, key, stack)), byName(wanted))) return changed;
  throw new UsageError(
    `${key} in the file of stack ${stack} has no line for each generation; write it as\n${wanted.map((each) => `    - ${listedKey(each)}`).join("\n")}`,
  );
}
