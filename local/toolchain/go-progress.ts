/** One thing that a build makes: a package that is compiled, or a program that is linked. */
export interface Work {
  /** What tells it from others, also in another group: a package's folder, a program's path. */
  readonly id: string;
  /** What it costs. Only ratios count. */
  readonly weight: number;
}

/** Below this share the speed isn't known well enough to say how long the rest takes. */
const LEAST_SHARE = 0.05;

/**
 * How far all Go builds of a run are. What several groups need is compiled once and counted once; what an earlier run did
 * counts as done, but says nothing of this machine's speed.
 */
export class GoProgress {
  readonly #left = new Map<string, number>();
  readonly #total: number;
  readonly #now: () => number;
  readonly #started: number;
  #before = 0;
  #done = 0;

  constructor(work: Iterable<Work>, now: () => number = () => performance.now()) {
    for (const { id, weight } of work) this.#left.set(id, weight);
    this.#total = [...this.#left.values()].reduce((sum, weight) => sum + weight, 0);
    this.#now = now;
    this.#started = now();
  }

  /** Something is done: in this run, or as found at its start. */
  done(id: string, when: "now" | "before" = "now"): void {
    const weight = this.#left.get(id) ?? 0;
    this.#left.delete(id);
    if (when === "before") this.#before += weight;
    else this.#done += weight;
  }

  /** `62 % compiled, about 4 min left`; without a time while there is none to tell. */
  toString(): string {
    const share = (this.#before + this.#done) / (this.#total || 1);
    const percent = `${Math.floor(share * 100)} % compiled`;
    if (this.#done < LEAST_SHARE * this.#total) return percent;
    const left = this.#total - this.#before - this.#done;
    const minutes = Math.ceil((((this.#now() - this.#started) / this.#done) * left) / 60_000);
    return `${percent}, about ${minutes} min left`;
  }
}
