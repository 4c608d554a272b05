import type { Schema } from "../../lib/openapi.ts";
import { type Problem, shown } from "../../lib/problems.ts";

/** Numbers of nodes, as a person writes them. */
export interface NodeCounts {
  readonly nodes?: string | undefined;
  readonly nodesMin?: string | undefined;
  readonly nodesMax?: string | undefined;
}

const flags = { nodesMin: "--nodes-min", nodes: "--nodes", nodesMax: "--nodes-max" } as const;
const fields = { nodesMin: "min", nodes: "desired", nodesMax: "max" } as const;
type Count = keyof typeof flags;
const counts = Object.keys(flags) as Count[];

/** The schema of one of the numbers in the Spoke API. */
const schemaOf = (spec: Schema, count: Count): Schema => spec.properties?.["nodes"]?.properties?.[fields[count]] ?? {};

/**
 * The numbers of a Spoke; undefined where none is given. `--nodes` alone is a fixed number, with room for one more while the only node is
 * replaced; next to `--nodes-min` and `--nodes-max` the Spoke API's defaults count, as far as they fit.
 */
export function nodesOf({ nodes, nodesMin, nodesMax }: NodeCounts, spec: Schema) {
  if (nodes === undefined && nodesMin === undefined && nodesMax === undefined) return undefined;
  const fallback = (count: Count) => Number(schemaOf(spec, count)["default"]);
  const fixed = nodes === undefined ? undefined : Number(nodes);
  const max = Number(nodesMax ?? (fixed === 1 ? 2 : (fixed ?? Math.max(fallback("nodesMax"), Number(nodesMin ?? 0)))));
  const min = Number(nodesMin ?? fixed ?? Math.min(fallback("nodesMin"), max));
  return { min, desired: fixed ?? Math.min(Math.max(fallback("nodes"), min), max), max };
}

/** The problems of the numbers by themselves and beside each other. */
export function nodeProblems(given: NodeCounts, spec: Schema): Problem[] {
  const malformed = counts.flatMap((count) => {
    const value = given[count];
    const { minimum, maximum } = schemaOf(spec, count) as { minimum: number; maximum: number };
    if (value === undefined || (/^\d+$/.test(value) && Number(value) >= minimum && Number(value) <= maximum)) return [];
    const allowed = `a whole number from ${minimum} to ${maximum}`;
    return [{ key: flags[count], what: "is not a number of nodes", got: shown(value), allowed, remedy: "change it" }];
  });
  const made = malformed.length > 0 ? undefined : nodesOf(given, spec);
  if (made === undefined || (made.min <= made.desired && made.desired <= made.max)) return malformed;
  return [
    {
      key: counts
        .filter((count) => given[count] !== undefined)
        .map((count) => flags[count])
        .join(", "),
      what: "do not fit each other",
      got: `at least ${made.min}, ${made.desired} at first, at most ${made.max}`,
      allowed: "--nodes-min at most --nodes, and --nodes at most --nodes-max",
      remedy: "change one of them, or leave out --nodes",
    },
  ];
}
