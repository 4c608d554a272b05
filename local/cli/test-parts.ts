import { duration } from "./step-display.ts";
import { countsOf, failureLines, type TestResults } from "./test-results.ts";

/** How a part of a test run ended. */
export interface Ending {
  /** Exit code: 0 passed; 129, 130 and 143 interrupted (128 and the number of the signal); any other failed. */
  readonly code: number;
  /** Results of a part that runs tests; undefined if it ran none. */
  readonly results?: TestResults | undefined;
}

/** A part of a test run, such as the unit tests. */
export interface Part {
  readonly name: string;
  /** The contents of the part, for its first line. */
  readonly covers: string;
  /** Whether the parts after it can't run without it. @default false */
  readonly isRequired?: boolean;
  readonly run: () => Promise<Ending>;
}

/** A part with its ending; `ending` is undefined for a part that was not run. */
export interface PartResult extends Pick<Part, "name" | "isRequired"> {
  readonly ending: Ending | undefined;
  readonly milliseconds: number;
}

const isInterrupted = (ending: Ending | undefined): boolean =>
  ending !== undefined && [129, 130, 143].includes(ending.code);

/** Lists of parts that run side by side, the parts of each list one after another. */
export type Phase = readonly (readonly Part[])[];

/**
 * Runs phases one after another. A failed part doesn't stop the others unless it is required; after an interrupted part, no other starts.
 * @param say receives the first line of each part, and why a part could not run
 * @returns one result for each part, in the order of the phases
 */
export async function runPhases(phases: readonly Phase[], say: (line: string) => void): Promise<readonly PartResult[]> {
  const results: PartResult[] = [];
  const isOver = () =>
    results.some(({ ending, isRequired }) => isInterrupted(ending) || (isRequired && ending?.code !== 0));
  const runList = async (parts: readonly Part[]) => {
    const own: PartResult[] = [];
    for (const part of parts) {
      const started = performance.now();
      const ending = isOver() ? undefined : await runPart(part, say);
      own.push({ ...part, ending, milliseconds: performance.now() - started });
      results.push(own.at(-1) as PartResult);
    }
    return own;
  };
  const ordered: PartResult[] = [];
  for (const phase of phases) ordered.push(...(await Promise.all(phase.map(runList))).flat());
  return ordered;
}

async function runPart({ name, covers, run }: Part, say: (line: string) => void): Promise<Ending> {
  say(`\n=== ${name}: ${covers}`);
  try {
    return await run();
  } catch (error) {
    say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    return { code: 1 };
  }
}

const stateOf = (ending: Ending | undefined): string => {
  if (ending === undefined) return "not run";
  if (isInterrupted(ending)) return "interrupted";
  return ending.code === 0 ? "passed" : "FAILED";
};

/** The end of a run: each failed test, then one line for each part with its result, time and number of tests. */
export function closingLines(parts: readonly PartResult[]): string[] {
  const rows = parts.map(({ name, ending, milliseconds }) => [
    name,
    stateOf(ending),
    ending === undefined ? "" : duration(milliseconds),
    ending?.results === undefined ? "" : countsOf(ending.results),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return [
    ...parts.flatMap(({ ending }) => (ending?.results === undefined ? [] : failureLines(ending.results))),
    "",
    ...table.map((line) => line.trimEnd()),
  ];
}

/** The exit code of a run: 130 if a part was interrupted, 1 if one failed or was not run, otherwise 0. */
export function exitCode(parts: readonly PartResult[]): number {
  if (parts.some(({ ending }) => isInterrupted(ending))) return 130;
  return parts.every(({ ending }) => ending?.code === 0) ? 0 : 1;
}
