import { expect, test } from "vitest";
import { countsOf, failureLines, type TestResults } from "../../../cli/test-results.ts";

const results = (changes: Partial<TestResults>): TestResults => ({
  ...{ passed: 3, failed: 0, skipped: 0, failures: [] },
  ...changes,
});

test("countsOf omits the counts that are 0", () => {
  expect(countsOf(results({}))).toBe("3 passed");
  expect(countsOf(results({ failed: 2, skipped: 1 }))).toBe("3 passed, 2 failed, 1 skipped");
});

test("failureLines names the file and the test, with message and difference but without the stack", () => {
  const failure = {
    where: "test/a.test.ts > the spoke answers",
    errors: [
      { message: "no", stack: "\u001b[31mAssertionError: no\u001b[39m\n    at here", diff: "- Expected\n+ Received" },
    ],
  };
  expect(failureLines(results({ failed: 1, failures: [failure] }))).toEqual([
    "FAILED test/a.test.ts > the spoke answers",
    "    AssertionError: no",
    "    - Expected",
    "    + Received",
  ]);
});

test("failureLines keeps the beginning and the end of a long message, where the log of a process explains its exit", () => {
  const lines = [
    "Error: kubelet did not start",
    ...Array.from({ length: 98 }, (_, n) => `line ${n}`),
    "no such runtime",
  ];
  const said = failureLines(
    results({ failures: [{ where: "test/b.test.ts", errors: [{ message: lines.join("\n") }] }] }),
  );
  expect(said.length).toBeLessThan(45);
  expect(said).toContain("    Error: kubelet did not start");
  expect(said).toContain("    (64 more lines)");
  expect(said.at(-1)).toBe("    no such runtime");
});

test("failureLines includes an error outside of any test file", () => {
  expect(failureLines(results({ failures: [{ where: undefined, errors: [{ message: "no hub" }] }] }))).toEqual([
    "FAILED outside of the tests",
    "    no hub",
  ]);
});
