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
  /** @param signal aborted when the step can't succeed any more: it then ends its waits and the commands that it runs */
  readonly run: (context: Context, report: Report, signal?: AbortSignal) => Promise<void>;
}

/**
 * Watches over a step. Rejects when the step can't succeed any more. It ends when `signal` is aborted, and then rejects with what else is
 * wrong at that moment: if the step failed, that might be the reason.
 */
export type Guard = (signal: AbortSignal) => Promise<void>;

/** A step failed: the message says which, why, and where to look. */
export class StepError extends Error {
  constructor(step: string, cause: unknown, logs: string) {
    super(
      `could not ${step}: ${messageOf(cause)}\n` + `Logs: ${logs}. Running the same command again continues here.`,
      { cause },
    );
    this.name = "StepError";
  }
}

/** How long each step took, in milliseconds, in the order in which they ran. */
export type Timings = ReadonlyMap<string, number>;

interface StepOptions {
  /** @default the process's standard output */
  readonly terminal?: Terminal | undefined;
  /** How long the steps took before: on a terminal it is shown how long they probably still take. */
  readonly durations?: Durations | undefined;
  /** Runs next to each step and aborts it. */
  readonly guard?: Guard;
}

/** Runs work next to a guard, until both have ended. */
async function guarded(work: (signal: AbortSignal) => Promise<void>, guard: Guard): Promise<void> {
  const over = new AbortController();
  const both = [work(over.signal), guard(over.signal)] as const;
  const failure = await Promise.race(both).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  over.abort();
  const [, watch] = await Promise.allSettled(both);
  if (failure === undefined) return;
  const also = watch.status === "rejected" && watch.reason !== failure.error ? `\n${messageOf(watch.reason)}` : "";
  throw new Error(`${messageOf(failure.error)}${also}`, { cause: failure.error });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const noGuard: Guard = (signal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** Runs steps in order and shows which of how many runs, and the time of each. Rejects with StepError at the first failure. */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  logs: string,
  { terminal = standardOutput, durations, guard = noGuard }: StepOptions = {},
): Promise<Timings> {
  const timings = new Map<string, number>();
  const width = String(steps.length).length;
  for (const [index, step] of steps.entries()) {
    const names = steps.slice(index).map(({ name }) => name);
    const left = durations && ((elapsed: number) => timeLeft(durations, names, elapsed));
    const shown = display(terminal, `[${String(index + 1).padStart(width)}/${steps.length}]`, step.name, left);
    try {
      await guarded((signal) => step.run(context, shown.detail, signal), guard);
    } catch (error) {
      shown.failed();
      throw new StepError(step.name, error, logs);
    }
    timings.set(step.name, shown.done());
  }
  return timings;
}
