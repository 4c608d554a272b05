import { expect, test } from "vitest";
import { timeLines } from "../../../cli/file-times.ts";

test("a run shows how long each file took, the longest first, and what the short ones of a project took together", () => {
  expect(
    timeLines([
      { project: "unit", file: "test/a.test.ts", ms: 400 },
      { project: "e2e", file: "test/e2e/hub.test.ts", ms: 6000 },
      { project: "unit", file: "test/b.test.ts", ms: 1100 },
      { project: "e2e", file: "test/e2e/lifecycle.long.test.ts", ms: 612_340 },
    ]),
  ).toEqual([
    "Time by test file:",
    "     1.5 s  unit  2 files below 5 s",
    "   612.3 s  e2e  test/e2e/lifecycle.long.test.ts",
    "     6.0 s  e2e  test/e2e/hub.test.ts",
  ]);
  expect(timeLines([])).toEqual([]);
});
