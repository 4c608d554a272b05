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

/** Lines kept of a message's beginning, which says what failed, and of its end, which is a process's last words. */
const [FIRST_LINES, LAST_LINES] = [12, 24];
const STACK_FRAME = /^\s+at /;

/** The beginning and the end of a message, indented, without the frames of its stack. */
function excerpt(message: string): string[] {
  const lines = stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => !STACK_FRAME.test(line));
  const left = lines.length - FIRST_LINES - LAST_LINES;
  const kept = left > 0 ? [...lines.slice(0, FIRST_LINES), `(${left} more lines)`, ...lines.slice(-LAST_LINES)] : lines;
  return kept.map((line) => `    ${line.slice(0, 400)}`);
}

/**
 * The end of a run: each failed test with its message, shortened, then the counts. What vitest itself prints of them
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
