import { expect, test } from "vitest";
import { closingLines, type TestResults } from "../../../cli/test-results.ts";

const results = (changes: Partial<TestResults>): TestResults => ({
  ...{ passed: 3, failed: 0, skipped: 1, failures: [] },
  ...changes,
});

test("a run ends with its counts", () => {
  expect(closingLines(results({}))).toEqual(["3 passed, 0 failed, 1 skipped"]);
  expect(closingLines(undefined)).toEqual(["no test was run"]);
});

test("each failed test stands at the end with its file, its name, its message and how values differ, without the stack", () => {
  const failure = {
    where: "test/a.test.ts > the spoke answers",
    errors: [
      { message: "no", stack: "\u001b[31mAssertionError: no\u001b[39m\n    at here", diff: "- Expected\n+ Received" },
    ],
  };
  expect(closingLines(results({ failed: 1, failures: [failure] }))).toEqual([
    "FAILED test/a.test.ts > the spoke answers",
    "    AssertionError: no",
    "    - Expected",
    "    + Received",
    "3 passed, 1 failed, 1 skipped",
  ]);
});

test("a long message keeps its beginning and its end, where the log of a process says why it ended", () => {
  const lines = [
    "Error: kubelet did not start",
    ...Array.from({ length: 98 }, (_, n) => `line ${n}`),
    "no such runtime",
  ];
  const broken = { where: "test/b.test.ts", errors: [{ message: lines.join("\n") }] };
  const said = closingLines(results({ failures: [broken] }));
  expect(said.length).toBeLessThan(45);
  expect(said).toContain("    Error: kubelet did not start");
  expect(said).toContain("    (64 more lines)");
  expect(said.at(-2)).toBe("    no such runtime");
});

test("an error outside of any test file is told too", () => {
  expect(closingLines(results({ failures: [{ where: undefined, errors: [{ message: "no hub" }] }] }))).toEqual([
    "FAILED outside of the tests",
    "    no hub",
    "3 passed, 0 failed, 1 skipped",
  ]);
});
