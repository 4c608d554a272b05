import { describe, expect, test } from "vitest";
import { compared, type Pushes, rowsOf } from "../../../bench/fleet/pushes.ts";

type Cost = Pushes["costs"][string][number];

const usage = { by: new Map(), cpu: 0, memory: 0, cloud: 0, requests: 0, store: 0, objects: 0, reconciles: new Map() };
const none = { all: 0, written: 0, changed: 0 };
const cost = (took: number, written: number): Cost => ({
  what: "a commit",
  took,
  reached: { "the Spoke": took },
  counts: {
    kustomizations: { root: none, platform: none, spokes: none, chains: none },
    artifacts: { all: 40, written, changed: 2 },
    generators: none,
    spokes: none,
  },
  window: took,
  before: usage,
  after: usage,
});
const stage = (size: number, first: readonly number[], last: readonly number[]): Pushes => ({
  size,
  costs: { first: first.map((took) => cost(took, 3)), last: last.map((took) => cost(took, 5)) },
});

describe("the benchmark of commits", () => {
  test("shows the median and the slowest push by spoke, a column for each size", () => {
    expect(rowsOf([stage(2, [1000, 9000, 2000], [4000]), stage(500, [3000], [8000])])).toEqual([
      ["", "2 spokes", "500 spokes"],
      ["first spoke by name: the Spoke, after", "2.0 s", "3.0 s"],
      ["first spoke by name: slowest", "9.0 s", "3.0 s"],
      ["first spoke by name: artifacts written to", "3 of 40", "3 of 40"],
      ["last spoke by name: the Spoke, after", "4.0 s", "8.0 s"],
      ["last spoke by name: slowest", "4.0 s", "8.0 s"],
      ["last spoke by name: artifacts written to", "5 of 40", "5 of 40"],
    ]);
  });

  test("fails when a push to the largest fleet takes more than 1.3 times that to the smallest", () => {
    const { rows, exceeded } = compared([
      stage(2, [1000], [1000]),
      stage(9, [9000], [9000]),
      stage(500, [1300], [1310]),
    ]);
    expect(rows).toEqual([
      ["500 spokes against 2: push to Spoke, the first by name", "1.30"],
      ["500 spokes against 2: push to Spoke, the last by name", "1.31"],
    ]);
    expect(exceeded).toEqual(["500 spokes against 2: push to Spoke, the last by name is 1.31 times, limit 1.3"]);
  });

  test("compares nothing when there is one size", () => {
    expect(compared([stage(2, [1000], [1000])])).toEqual({ rows: [], exceeded: [] });
  });
});
