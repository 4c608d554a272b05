/** One thing that a build makes: a package that is compiled, or a program that is linked. */
export interface Work {
  /** What tells it from others, also in another group: a package's folder, a program's path. */
  readonly id: string;
  /** What it costs. Only ratios count. */
  readonly weight: number;
}

/** Below this share the speed isn't known well enough to say how long the rest takes. */
const LEAST_SHARE = 0.05;
/** Older work counts less for the recent speed: a third of it after this time. */
const RECENT_MS = 60_000;
/** If the estimates by the recent and by the average speed differ by more than this factor, neither is shown. */
const UNSURE_FACTOR = 3;
/** An estimate that stays the same for longer is wrong, and isn't shown. */
const SAME_MS = 90_000;

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
  readonly #recent = { weight: 0, ms: 0, at: 0 };
  readonly #shown = { estimate: "", since: 0 };

  constructor(work: Iterable<Work>, now: () => number = () => performance.now()) {
    for (const { id, weight } of work) this.#left.set(id, weight);
    this.#total = [...this.#left.values()].reduce((sum, weight) => sum + weight, 0);
    this.#now = now;
    this.#started = now();
    this.#recent.at = this.#started;
  }

  /** Something is done: in this run, or as found at its start. */
  done(id: string, when: "now" | "before" = "now"): void {
    const weight = this.#left.get(id) ?? 0;
    this.#left.delete(id);
    if (when === "before") {
      this.#before += weight;
      return;
    }
    this.#done += weight;
    const recent = this.#recent;
    const ms = this.#now() - recent.at;
    const decay = Math.exp(-ms / RECENT_MS);
    const kept = ms === 0 ? 1 : (RECENT_MS * (1 - decay)) / ms;
    recent.weight = recent.weight * decay + weight * kept;
    recent.ms = recent.ms * decay + ms * kept;
    recent.at += ms;
  }

  /** `62 % compiled, 4 to 6 min left`; without a time while there is none to tell. */
  describe(): string {
    const share = (this.#before + this.#done) / (this.#total || 1);
    const percent = `${Math.floor(share * 100)} % compiled`;
    const known = this.#done >= LEAST_SHARE * this.#total && this.#left.size > 0;
    const estimate = known ? this.#estimate() : "";
    if (estimate !== this.#shown.estimate) Object.assign(this.#shown, { estimate, since: this.#now() });
    return estimate === "" || this.#now() - this.#shown.since > SAME_MS ? percent : `${percent}, ${estimate} left`;
  }

  /** How long the rest takes at the recent and at the average speed. */
  #estimate(): string {
    const rest = this.#total - this.#before - this.#done;
    const average = ((this.#now() - this.#started) / this.#done) * rest;
    const recent = (this.#recent.ms / this.#recent.weight) * rest;
    const [low, high] = [Math.min(average, recent), Math.max(average, recent)];
    if (high > UNSURE_FACTOR * low) return "";
    const [from, to] = [low, high].map((ms) => Math.max(1, Math.round(ms / 60_000)));
    return from === to ? `about ${from} min` : `${from} to ${to} min`;
  }
}
