import { describe, expect, test } from "vitest";
import type { Cost } from "../../../bench/fleet/commits.ts";
import { countsBetween } from "../../../bench/fleet/counts.ts";
import { growth } from "../../../bench/fleet/limits-of-growth.ts";
import { commitsOf, type Stage, stageOf } from "../../../bench/fleet/result.ts";
import { byController, rowsOf } from "../../../bench/fleet/rows.ts";
import type { Usage } from "../../../bench/fleet/usage.ts";

const MIB = 2 ** 20;

/** What a hub has used after `work` units of it. */
const usage = (work: number): Usage => ({
  cpu: 10 * work,
  memory: (1000 + work) * MIB,
  cloud: 0,
  requests: 1000 * work,
  store: (20 + work) * MIB,
  objects: 100 * work,
  by: new Map([
    ["kube-apiserver", { cpu: 6 * work, memory: 800 * MIB }],
    ["crossplane", { cpu: 4 * work, memory: (200 + work) * MIB }],
  ]),
  reconciles: new Map([["crossplane", 60 * work]]),
});

const cost = (took: number, work: number): Cost => ({
  what: "a commit",
  took,
  reached: { "the Spoke": took },
  counts: countsBetween([], []),
  window: 10_000,
  before: usage(0),
  after: usage(work),
});

const stage = (size: number, took: number): Stage =>
  stageOf(
    {
      size,
      added: 2,
      made: [3000, 5000],
      ready: [20_000, 30_000],
      before: usage(0),
      after: usage(4),
      rest: [usage(4), usage(5)],
    },
    { first: [cost(took, 3)], last: [cost(took, 3)], tool: [cost(took, 1)], chain: [cost(took, 30)] },
    10,
  );

describe("the result of a fleet's size", () => {
  test("has what one more spoke costs, and what the fleet costs at rest", () => {
    const { each, cpuBy, rest, restBy, ready } = stage(2, 4000);
    expect(each).toEqual({ cpu: 20, requests: 2000, memory: 2 * MIB, store: 2 * MIB });
    expect(cpuBy).toEqual(
      new Map([
        ["kube-apiserver", 12],
        ["crossplane", 8],
      ]),
    );
    expect(rest).toEqual({ cpu: 1, requests: 100, reconciles: 6 });
    expect(restBy).toEqual(new Map([["crossplane", 360]]));
    expect(ready).toEqual([20_000, 25_000, 30_000]);
  });

  test("counts a commit's cost above that of rest, and never less than nothing", () => {
    const rest = { cpu: 1, requests: 100, reconciles: 6 };
    expect(commitsOf([cost(4000, 3)], rest)).toMatchObject({ took: 4000, cpu: 20, requests: 2000, reconciles: 120 });
    expect(commitsOf([cost(4000, 0)], rest)).toMatchObject({ cpu: 0, requests: 0, reconciles: 0 });
  });

  test("takes the median of several commits", () => {
    const rest = { cpu: 0, requests: 0, reconciles: 0 };
    expect(commitsOf([cost(9000, 9), cost(2000, 2), cost(4000, 4)], rest)).toMatchObject({ took: 4000, cpu: 40 });
  });
});

describe("the tables", () => {
  test("have a column for each size", () => {
    const rows = rowsOf([stage(1, 4000), stage(25, 4000)]);
    for (const row of rows) expect(row, row[0]).toHaveLength(3);
    expect(rows).toContainEqual(["SPOKES", "1 spoke", "25 spokes"]);
    expect(rows).toContainEqual(["one spoke, the last by name: the Spoke, after", "4.0 s", "4.0 s"]);
    expect(rows).toContainEqual(["processor time for one more spoke", "20.0 s", "20.0 s"]);
  });

  test("have the greatest controllers first, and the small ones together", () => {
    const of = () =>
      new Map([
        ["small", 1],
        ["great", 90],
        ["middle", 9],
        ["tiny", 1],
      ]);
    expect(byController([stage(1, 0)], of, String)).toEqual([
      ["great", "90"],
      ["middle", "9"],
      ["2 others", "2"],
    ]);
  });
});

describe("the growth of a cost", () => {
  test("beyond its limit is named with its figures", () => {
    expect(growth([stage(1, 4000), stage(25, 4000), stage(100, 5000)]).exceeded).toEqual([]);
    expect(growth([stage(1, 4000), stage(25, 5000), stage(100, 6000)]).exceeded).toEqual([
      "100 spokes against 1: push to Spoke, the first by name is 1.50 times, limit 1.3",
      "100 spokes against 1: push to Spoke, the last by name is 1.50 times, limit 1.3",
    ]);
  });

  test("is none with one size", () => expect(growth([stage(100, 4000)])).toEqual({ rows: [], exceeded: [] }));
});
