/** A run that is ready, and has lasted this long, is stable. */
export const STABLE_MS = 60_000;
/** Short runs in a row after which a process counts as one that keeps exiting. */
const SHORT_RUNS = 3;

/** How the runs of a process ended that nobody asked to end. */
export interface Exits {
  /** Runs in a row that ended before they were stable. */
  readonly shortRuns: number;
  readonly lastExit: { readonly how: string; readonly at: string } | undefined;
}

export const noExits: Exits = { shortRuns: 0, lastExit: undefined };

/** The exits of a process after another run has ended. */
export const afterRun = ({ shortRuns }: Exits, wasStable: boolean, how: string, now: Date): Exits => ({
  shortRuns: wasStable ? 0 : shortRuns + 1,
  lastExit: { how, at: now.toISOString() },
});

/** Whether a process keeps exiting: several short runs in a row, and no stable one since. */
export const keepsExiting = ({ shortRuns }: Exits): boolean => shortRuns >= SHORT_RUNS;

/** How a process keeps exiting, as the predicate of a sentence. */
export const exitsLine = ({ shortRuns, lastExit }: Exits): string =>
  `keeps exiting: ${shortRuns} short runs in a row, the last: ${lastExit?.how}`;

/** The pause before the next restart, in milliseconds: 0.2 s after the first short run, doubled each time, 30 s at most. */
export const pauseAfter = ({ shortRuns }: Exits): number => Math.min(30_000, 200 * 2 ** Math.max(0, shortRuns - 1));
