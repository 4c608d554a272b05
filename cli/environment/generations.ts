import { basename } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { environmentKeys } from "../rotation/keys-folder.ts";
import type { ListedKey } from "../rotation/stack-file.ts";
import type { StackList } from "../rotation/stack-list.ts";
import { byGeneration } from "../sealing/generations.ts";

/** Which generations of its sealing key an environment has: a hub makes those that gitops-system brings to the hub's spokes. */

/** The generation that a new sealing key begins with. */
const first = "1";

/** The stack whose file this is. */
export const stackOf = (path: string): string => basename(path, ".yaml").replace("Pulumi.", "");

/** Generations of a scope's key in a stack's list. */
export const generationsIn = (keys: readonly ListedKey[], scope: string): string[] =>
  keys.filter((key) => key.scope === scope).map(({ generation }) => generation);

/** What the environment's folder brings; without one what stacks have already, or the first. The oldest first. */
export function generationsFor(name: string, brought: readonly string[], stacks: readonly StackList[]): string[] {
  const there = brought.length > 0 ? brought : stacks.flatMap(({ keys }) => generationsIn(keys, name));
  return there.length === 0 ? [first] : [...new Set(there)].sort(byGeneration);
}

/** The list's entries for a stack that has no key of the scope; the newest one seals. */
export const newKeys = (scope: string, generations: readonly string[]): ListedKey[] =>
  generations.map((generation) => ({ scope, generation, active: generation === generations.at(-1) }));

/** The problems of stacks whose key of the environment lacks a generation that spokes would ask their hub for. */
export function generationProblems(name: string, brought: readonly string[], stacks: readonly StackList[]): Problem[] {
  const wanted = generationsFor(name, brought, stacks);
  const source = brought.length > 0 ? `${environmentKeys(name)} brings` : "the stacks together have";
  return stacks.flatMap(({ path, keys }) => {
    const own = generationsIn(keys, name);
    const isWhole = wanted.every((generation) => own.includes(generation));
    if (own.length === 0 || isWhole) return [];
    return [
      {
        key: "--stack",
        what: `${stackOf(path)} lacks a generation of the sealing key of ${name} that spokes would ask its hub for`,
        got: `generation ${own.join(", ")}`,
        allowed: `generation ${wanted.join(", ")}, which ${source}`,
        remedy: `finish the rotation in each hub first, so that all have the same: fleet rotate-key ${name}`,
      },
    ];
  });
}
