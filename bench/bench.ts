import type { Fleet } from "../local/cli/fleet.ts";
import type { Timings } from "../local/cli/steps.ts";

/** An instance of the local stack with the hub on it, where nothing else is done. */
export interface Subject {
  readonly fleet: Fleet;
  /** How long the steps took that brought it up. */
  readonly timings: Timings;
  /** Tells people what is being waited for. */
  readonly report: (line: string) => void;
}

/** Something to measure. */
export interface Bench {
  readonly title: string;
  /** Measures, and gives rows of cells. Rejects when what is measured does not do what it must. */
  readonly run: (subject: Subject) => Promise<readonly (readonly string[])[]>;
}
