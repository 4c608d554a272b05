/** What changed between two sets of inputs, and what that means for the resource. */
import { equal, hasUnknown, isMap, type Json, type PropertyMap, plain, reveal, type Value } from "./values.ts";

/** How one property changed. `replace` when the resource has to be made anew for it. */
export interface PropertyDiff {
  readonly kind: "add" | "delete" | "update";
  readonly replace: boolean;
}

/** Outcome of a diff: property paths (`a.b[0]`) to what happened to them; empty when nothing changed. */
export interface Diff {
  readonly properties: Readonly<Record<string, PropertyDiff>>;
  /** The old resource has to go before the new one can be made, e.g. because both have the same fixed name. */
  readonly deleteBeforeReplace?: boolean;
}

/** Rules for {@link diffInputs}. */
export interface DiffRules {
  /** Inputs (paths without indexes, e.g. `vpcConfig.subnetIds`) whose change needs a new resource; `all` for every input. */
  readonly replaceOn: readonly string[] | "all";
  /** Comparison by meaning of an input, e.g. of policy documents or unordered lists. */
  readonly equals?: Readonly<Record<string, (before: Json, after: Json) => boolean>> | undefined;
}

/** Compares old and new inputs. A new value that is unknown counts as a change. Secret marks don't count. */
export function diffInputs(before: PropertyMap, after: PropertyMap, rules: DiffRules): Diff {
  const properties: Record<string, PropertyDiff> = {};
  walk("", "", before, after, rules, properties);
  return { properties };
}

/** @param bare the path without indexes. */
function walk(
  path: string,
  bare: string,
  before: Value,
  after: Value,
  rules: DiffRules,
  found: Record<string, PropertyDiff>,
): void {
  if (same(bare, before, after, rules.equals)) return;
  const [left, right] = [reveal(before), reveal(after)];
  const lists = Array.isArray(left) && Array.isArray(right);
  if (!lists && !(isMap(left) && isMap(right))) {
    found[path] = { kind: "update", replace: needsReplace(bare, rules) };
    return;
  }
  const [olds, news] = [left, right] as [PropertyMap, PropertyMap];
  for (const key of new Set([...Object.keys(olds), ...Object.keys(news)])) {
    const member = lists ? `${path}[${key}]` : join(path, key);
    const name = lists ? bare : bare ? `${bare}.${key}` : key;
    const [a, b] = [olds[key], news[key]];
    if (a !== undefined && b !== undefined) walk(member, name, a, b, rules, found);
    else if (a !== b) found[member] = { kind: b === undefined ? "delete" : "add", replace: needsReplace(name, rules) };
  }
}

/** True when two values of an input are equal, or mean the same by its comparison. */
export function same(name: string, before: Value, after: Value, equals: DiffRules["equals"]): boolean {
  if (equal(before, after)) return true;
  const compare = equals?.[name];
  return compare !== undefined && !hasUnknown(before) && !hasUnknown(after) && compare(plain(before), plain(after));
}

function needsReplace(name: string, rules: DiffRules): boolean {
  if (rules.replaceOn === "all") return true;
  return rules.replaceOn.some((rule) => name === rule || name.startsWith(`${rule}.`) || rule.startsWith(`${name}.`));
}

/** Property path as the engine writes it: keys that are not plain words are quoted. */
function join(path: string, key: string): string {
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}
