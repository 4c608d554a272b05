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

test("each failed test stands at the end with its file, its name and its message, without the stack", () => {
  const failed = {
    name: "/work/test/a.test.ts",
    status: "failed",
    assertionResults: [
      { fullName: "the hub answers", status: "passed" },
      {
        fullName: "the spoke answers",
        status: "failed",
        failureMessages: ["\u001b[31mAssertionError: no\u001b[39m\n    at here"],
      },
    ],
  };
  expect(closingLines(results({ numFailedTests: 1, testResults: [failed] }), "/work")).toEqual([
    "FAILED test/a.test.ts > the spoke answers",
    "    AssertionError: no",
    "3 passed, 1 failed, 1 skipped",
  ]);
});

test("a long message keeps its beginning and its end, where the log of a process says why it ended", () => {
  const lines = [
    "Error: kubelet did not start",
    ...Array.from({ length: 98 }, (_, n) => `line ${n}`),
    "no such runtime",
  ];
  const broken = { name: "/work/test/b.test.ts", status: "failed", message: lines.join("\n"), assertionResults: [] };
  const said = closingLines(results({ testResults: [broken] }), "/work");
  expect(said.length).toBeLessThan(45);
  expect(said).toContain("    Error: kubelet did not start");
  expect(said).toContain("    (64 more lines)");
  expect(said.at(-2)).toBe("    no such runtime");
});

test("a file that fails before any of its tests is named too", () => {
  const broken = { name: "/work/test/b.test.ts", status: "failed", message: "cannot be loaded", assertionResults: [] };
  expect(closingLines(results({ testResults: [broken] }), "/work")).toEqual([
    "FAILED test/b.test.ts",
    "    cannot be loaded",
    "3 passed, 0 failed, 1 skipped",
  ]);
});
