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
  readonly equals?: Readonly<Record<string, (before: Json, after: Json) => boolean>>;
}

/** Compares old and new inputs. A new value that is unknown counts as a change. Secret marks don't count. */
export function diffInputs(before: PropertyMap, after: PropertyMap, rules: DiffRules): Diff {
  const properties: Record<string, PropertyDiff> = {};
  walk("", "", before, after, rules, properties);
  return { properties };
}

function walk(
  path: string,
  bare: string,
  before: Value,
  after: Value,
  rules: DiffRules,
  found: Record<string, PropertyDiff>,
) {
  const left = reveal(before);
  const right = reveal(after);
  if (isMap(left) && isMap(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const member = join(path, key);
      const name = bare ? `${bare}.${key}` : key;
      const [a, b] = [left[key], right[key]];
      if (a === undefined && b !== undefined) found[member] = { kind: "add", replace: needsReplace(name, rules) };
      else if (a !== undefined && b === undefined)
        found[member] = { kind: "delete", replace: needsReplace(name, rules) };
      else if (!same(name, a as Value, b as Value, rules)) walk(member, name, a as Value, b as Value, rules, found);
    }
  } else if (Array.isArray(left) && Array.isArray(right) && !equal(left, right)) {
    walkList(path, bare, left, right, rules, found);
  } else if (!same(bare, left, right, rules)) {
    found[path] = { kind: "update", replace: needsReplace(bare, rules) };
  }
}

function walkList(
  path: string,
  bare: string,
  left: Value[],
  right: Value[],
  rules: DiffRules,
  found: Record<string, PropertyDiff>,
) {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const [a, b] = [left[index], right[index]];
    const member = `${path}[${index}]`;
    if (a === undefined) found[member] = { kind: "add", replace: needsReplace(bare, rules) };
    else if (b === undefined) found[member] = { kind: "delete", replace: needsReplace(bare, rules) };
    else walk(member, bare, a, b, rules, found);
  }
}

function same(name: string, before: Value, after: Value, rules: DiffRules): boolean {
  if (equal(before, after)) return true;
  const compare = rules.equals?.[name];
  if (!compare || hasUnknown(before) || hasUnknown(after)) return false;
  return compare(plain(before), plain(after));
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
