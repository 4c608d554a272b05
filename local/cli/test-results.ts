import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** What a reporter of vitest keeps of a run for its last lines: vitest's own JSON report leaves out how values differ. */
export interface TestResults {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

interface Failure {
  /** The test file, and the full name of the test unless the file itself failed; undefined for an error outside of any file. */
  readonly where: string | undefined;
  readonly errors: readonly Failed[];
}

/** An error as vitest reports it. */
interface Failed {
  readonly message: string;
  readonly stack?: string | undefined;
  /** How the value differs from what was expected. */
  readonly diff?: string | undefined;
}

/** Lines kept of a message's beginning, which says what failed, and of its end, which is a process's last words. */
const [FIRST_LINES, LAST_LINES] = [12, 24];
const STACK_FRAME = /^\s+at /;

/** The beginning and the end of a text, indented, without the frames of a stack and without empty lines. */
function excerpt(text: string): string[] {
  const lines = stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => line.trim() !== "" && !STACK_FRAME.test(line));
  const left = lines.length - FIRST_LINES - LAST_LINES;
  const kept = left > 0 ? [...lines.slice(0, FIRST_LINES), `(${left} more lines)`, ...lines.slice(-LAST_LINES)] : lines;
  return kept.map((line) => `    ${line.slice(0, 400)}`);
}

const linesOf = ({ message, stack, diff }: Failed): string[] => [
  ...excerpt(stack || message),
  ...(diff === undefined ? [] : excerpt(diff)),
];

/**
 * Each failed test with its message and the difference, shortened. vitest's own output of them can be out of sight, above the removal of
 * the tests' instance.
 */
export const failureLines = ({ failures }: TestResults): string[] =>
  failures.flatMap(({ where = "outside of the tests", errors }) => [`FAILED ${where}`, ...errors.flatMap(linesOf)]);

/** `12 passed, 1 failed`; without the counts that are 0, except the first. */
export const countsOf = ({ passed, failed, skipped }: TestResults): string =>
  [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(", ");

const errorsOf = (test: TestCase): readonly Failed[] => test.result().errors ?? [];

/** What is kept of a run. */
export function resultsOf(modules: readonly TestModule[], outside: readonly Failed[]): TestResults {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (...states: readonly string[]) => tests.filter((test) => states.includes(test.result().state)).length;
  const kept = (errors: readonly Failed[]): Failed[] =>
    errors.map(({ message, stack, diff }) => ({ message, stack, diff }));
  const all: Failure[] = modules.flatMap((module) => [
    { where: module.relativeModuleId, errors: kept(module.errors()) },
    ...[...module.children.allSuites()].map((suite) => ({
      where: `${module.relativeModuleId} > ${suite.fullName}`,
      errors: kept(suite.errors()),
    })),
    ...[...module.children.allTests()].map((test) => ({
      where: `${module.relativeModuleId} > ${test.fullName}`,
      errors: test.result().state === "failed" ? kept(errorsOf(test)) : [],
    })),
  ]);
  return {
    ...{ passed: count("passed"), failed: count("failed"), skipped: count("skipped", "pending") },
    failures: [...all, { where: undefined, errors: kept(outside) }].filter(({ errors }) => errors.length > 0),
  };
}

/** Name of the environment variable with the file that the results go to. */
export const RESULTS_FILE = "FLEET_TEST_RESULTS";

export default class ResultsFile implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], outside: readonly Failed[]): void {
    const file = process.env[RESULTS_FILE];
    if (file !== undefined) writeFileSync(file, JSON.stringify(resultsOf(modules, outside)));
  }
}
