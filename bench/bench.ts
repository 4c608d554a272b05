import type { LocalFleet, Timings } from "@eks-gitops-fleet/local/cli";

/** An instance of the local stack with the hub on it, where nothing else is done. */
interface Subject {
  readonly fleet: LocalFleet;
  /** How long the steps took that brought it up. */
  readonly timings: Timings;
  /** Tells people what is being waited for. */
  readonly report: (line: string) => void;
}

/** Something to measure. */
export interface Bench {
  readonly title: string;
  /** Rejects when what is measured does not do what it must. */
  readonly run: (subject: Subject) => Promise<Result>;
}

interface Result {
  /** Rows of cells. */
  readonly rows: readonly (readonly string[])[];
  /** Limits that were exceeded, each with what was measured; only ratios of one run have limits. */
  readonly exceeded?: readonly string[];
}
