import { expect, test } from "vitest";
import { closingLines, type TestResults } from "../../../cli/test-results.ts";

const results = (changes: Partial<TestResults>): TestResults => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 1,
  testResults: [],
  ...changes,
});

test("a run ends with its counts", () => {
  expect(closingLines(results({}), "/work")).toEqual(["3 passed, 0 failed, 1 skipped"]);
  expect(closingLines(undefined, "/work")).toEqual(["no test was run"]);
});

test("each failed test stands at the end with its file, its name and the beginning of its message", () => {
  const failed = {
    name: "/work/test/a.test.ts",
    status: "failed",
    assertionResults: [
      { fullName: "the hub answers", status: "passed" },
      {
        fullName: "the spoke answers",
        status: "failed",
        failureMessages: ["\u001b[31mAssertionError: no\u001b[39m\nat here"],
      },
    ],
  };
  expect(closingLines(results({ numFailedTests: 1, testResults: [failed] }), "/work")).toEqual([
    "FAILED test/a.test.ts > the spoke answers",
    "    AssertionError: no",
    "    at here",
    "3 passed, 1 failed, 1 skipped",
  ]);
});

test("a file that fails before any of its tests is named too", () => {
  const broken = { name: "/work/test/b.test.ts", status: "failed", message: "cannot be loaded", assertionResults: [] };
  expect(closingLines(results({ testResults: [broken] }), "/work")).toEqual([
    "FAILED test/b.test.ts",
    "    cannot be loaded",
    "3 passed, 0 failed, 1 skipped",
  ]);
});
