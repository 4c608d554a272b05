import { display, standardOutput, type Terminal } from "./step-display.ts";
import { type Durations, timeLeft } from "./time-left.ts";

/** Shows a detail of the running step, indented below it; on a terminal the next one takes its place, unless it stays. */
export type Report = (detail: string, stays?: boolean) => void;

/**
 * One named piece of work on `context`. A step is idempotent: after a kill at any point of it, running it again (with the
 * steps before it) ends in the same state.
 */
export interface Step<Context> {
  /** What it does, as people read it: "start the AWS API". */
  readonly name: string;
  readonly run: (context: Context, report: Report) => Promise<void>;
}

/** A step failed: the message says which, why, and where to look. */
export class StepError extends Error {
  constructor(step: string, cause: unknown, logs: string) {
    super(
      `could not ${step}: ${cause instanceof Error ? cause.message : String(cause)}\n` +
        `Logs: ${logs}. Running the same command again continues here.`,
      { cause },
    );
    this.name = "StepError";
  }
}

/** How long each step took, in milliseconds, in the order in which they ran. */
export type Timings = ReadonlyMap<string, number>;

/**
 * Runs steps in order and shows which of how many runs, and the time of each. Rejects with StepError at the first failure.
 * @param durations how long they took before: on a terminal it is shown how long they probably still take
 */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  logs: string,
  terminal: Terminal = standardOutput,
  durations?: Durations,
): Promise<Timings> {
  const timings = new Map<string, number>();
  const width = String(steps.length).length;
  for (const [index, step] of steps.entries()) {
    const names = steps.slice(index).map(({ name }) => name);
    const left = durations && ((elapsed: number) => timeLeft(durations, names, elapsed));
    const shown = display(terminal, `[${String(index + 1).padStart(width)}/${steps.length}]`, step.name, left);
    try {
      await step.run(context, shown.detail);
    } catch (error) {
      shown.failed();
      throw new StepError(step.name, error, logs);
    }
    timings.set(step.name, shown.done());
  }
  return timings;
}
