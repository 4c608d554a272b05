/** Shows a detail of the running step: a line of its own, indented below the step's. */
export type Report = (detail: string) => void;

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

export interface Terminal {
  readonly write: (text: string) => void;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
}

const terminal: Terminal = { write: (text) => process.stdout.write(text), now: () => performance.now() };

/** Shows nothing. */
export const silent: Terminal = { ...terminal, write: () => {} };

/** `75_000` ms as `1 min 15 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How long each step took, in milliseconds, in the order in which they ran. */
export type Timings = ReadonlyMap<string, number>;

/** Runs steps in order and shows which of how many runs, and the time of each. Rejects with StepError at the first failure. */
export async function runSteps<Context>(
  steps: readonly Step<Context>[],
  context: Context,
  logs: string,
  { write, now }: Terminal = terminal,
): Promise<Timings> {
  const timings = new Map<string, number>();
  const width = String(steps.length).length;
  for (const [index, step] of steps.entries()) {
    const label = `[${String(index + 1).padStart(width)}/${steps.length}]`;
    const started = now();
    const elapsed = () => duration(now() - started);
    write(`${label} ${step.name}\n`);
    try {
      await step.run(context, (detail) => write(`${" ".repeat(label.length)} ${detail}\n`));
    } catch (error) {
      write(`${label} ${step.name}: failed after ${elapsed()}\n`);
      throw new StepError(step.name, error, logs);
    }
    timings.set(step.name, now() - started);
    write(`${label} ${step.name}: done in ${elapsed()}\n`);
  }
  return timings;
}
