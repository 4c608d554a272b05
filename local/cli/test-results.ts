import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

/** What is read of vitest's JSON report. */
export interface TestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    /** The test file. */
    readonly name: string;
    readonly status: string;
    /** Why a file without any failed test failed. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

const MESSAGE_LINES = 12;

/** The beginning of a message, indented. */
const excerpt = (message: string): string[] =>
  stripVTControlCharacters(message)
    .split("\n")
    .slice(0, MESSAGE_LINES)
    .map((line) => `    ${line.slice(0, 400)}`);

/**
 * The end of a run: each failed test with the beginning of its message, then the counts. What vitest itself prints of them
 * stands above the removal of the tests' instance, out of sight where only the end of a log is kept.
 */
export function closingLines(results: TestResults | undefined, root: string): string[] {
  if (results === undefined) return ["no test was run"];
  const failures = results.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return status === "failed" ? [`FAILED ${file}`, ...excerpt(message ?? "")] : [];
    return failed.flatMap(({ fullName, failureMessages }) => [
      `FAILED ${file} > ${fullName}`,
      ...(failureMessages ?? []).flatMap(excerpt),
    ]);
  });
  const { numPassedTests, numFailedTests, numPendingTests } = results;
  return [...failures, `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`];
}
