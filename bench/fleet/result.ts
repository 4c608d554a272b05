import { median } from "../statistics.ts";
import type { Cost } from "./commits.ts";
import type { Measured } from "./grow.ts";
import type { Usage } from "./usage.ts";

/** What was measured at one size of the fleet. */
export interface Stage {
  readonly size: number;
  /** Milliseconds from the push until the first, the middle and the last Spoke. */
  readonly made: readonly number[];
  readonly ready: readonly number[];
  /** Of one more spoke. */
  readonly each: { readonly cpu: number; readonly requests: number; readonly memory: number; readonly store: number };
  /** Processor seconds of one more spoke, by controller. */
  readonly cpuBy: ReadonlyMap<string, number>;
  readonly memory: number;
  readonly memoryBy: ReadonlyMap<string, number>;
  readonly store: number;
  readonly objects: number;
  /** In a second without commits. */
  readonly rest: Rates;
  /** Reconciliations in a minute without commits, by controller. */
  readonly restBy: ReadonlyMap<string, number>;
  readonly first: Commits;
  readonly last: Commits;
  readonly tool: Commits;
  readonly chain: Commits;
}

interface Rates {
  readonly cpu: number;
  readonly requests: number;
  readonly reconciles: number;
}

/** Commits of a kind: what they cost above what the fleet costs at rest. */
export interface Commits extends Rates {
  /** Milliseconds, the median. */
  readonly took: number;
  readonly reached: Readonly<Record<string, number>>;
  /** Of the last of them. */
  readonly counts: Cost["counts"];
}

const total = (values: Iterable<number>): number => [...values].reduce((sum, value) => sum + value, 0);

/** What was used between two readings, in a second. */
function rates(before: Usage, after: Usage, seconds: number): Rates {
  return {
    cpu: (after.cpu - before.cpu) / seconds,
    requests: (after.requests - before.requests) / seconds,
    reconciles: (total(after.reconciles.values()) - total(before.reconciles.values())) / seconds,
  };
}

const spread = (values: readonly number[]): number[] => [Math.min(...values), median(values), Math.max(...values)];

/** The differences of two readings by controller; one that was not there before began at nothing. */
function differences(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  share: number,
): Map<string, number> {
  return new Map([...after].map(([name, value]) => [name, (value - (before.get(name) ?? 0)) / share]));
}

const cpuOf = ({ by }: Usage): Map<string, number> => new Map([...by].map(([name, { cpu }]) => [name, cpu]));

/** Several commits of a kind as one; `rest` is what the fleet costs in a second without any. */
export function commitsOf(costs: readonly Cost[], rest: Rates): Commits {
  const last = costs.at(-1);
  if (last === undefined) throw new Error("a cost needs at least one commit, got none");
  const above = (what: keyof Rates) =>
    median(
      costs.map(({ before, after, window }) => {
        const seconds = window / 1000;
        return Math.max(0, (rates(before, after, seconds)[what] - rest[what]) * seconds);
      }),
    );
  return {
    took: median(costs.map(({ took }) => took)),
    reached: Object.fromEntries(
      Object.keys(last.reached).map((name) => [name, median(costs.map(({ reached }) => reached[name] ?? Number.NaN))]),
    ),
    counts: last.counts,
    cpu: above("cpu"),
    requests: above("requests"),
    reconciles: above("reconciles"),
  };
}

export interface Costs {
  readonly first: readonly Cost[];
  readonly last: readonly Cost[];
  readonly tool: readonly Cost[];
  readonly chain: readonly Cost[];
}

/** What the readings at one size say. `idleSeconds` are between the two readings at rest. */
export function stageOf(measured: Measured, costs: Costs, idleSeconds: number): Stage {
  const { size, added, made, ready, before, after } = measured;
  const [resting, rested] = measured.rest;
  const rest = rates(resting, rested, idleSeconds);
  const each = (what: "cpu" | "memory" | "requests" | "store") => (after[what] - before[what]) / added;
  return {
    size,
    made: spread(made),
    ready: spread(ready),
    each: { cpu: each("cpu"), requests: each("requests"), memory: each("memory"), store: each("store") },
    cpuBy: differences(cpuOf(before), cpuOf(after), added),
    memory: rested.memory,
    memoryBy: new Map([...rested.by].map(([name, { memory }]) => [name, memory])),
    store: rested.store,
    objects: rested.objects,
    rest,
    restBy: differences(resting.reconciles, rested.reconciles, idleSeconds / 60),
    first: commitsOf(costs.first, rest),
    last: commitsOf(costs.last, rest),
    tool: commitsOf(costs.tool, rest),
    chain: commitsOf(costs.chain, rest),
  };
}
