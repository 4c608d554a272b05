/** A work queue by key: one pass at a time for each, many side by side, with pauses that grow for each failing key alone. */
import type { Outcome } from "./reconciler.ts";

export interface QueueOptions {
  /** Passes at the same time. */
  readonly concurrency: number;
  /** Milliseconds until a key that is up to date is looked at again. */
  readonly pollMs: (key: string) => number;
  readonly work: (key: string) => Promise<Outcome>;
  readonly onError: (key: string, error: unknown) => void;
}

/** Crossplane's own: base 1 s, at most 60 s (crossplane-runtime, pkg/ratelimiter). */
const PAUSE_MS = { base: 1000, longest: 60_000 };
/** A pass that changed something is followed by another; one that always changes something must not run hot. */
const QUICK_PASSES = 3;

interface Item {
  running: boolean;
  /** Asked for while it ran. */
  again: boolean;
  failures: number;
  passes: number;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #items = new Map<string, Item>();
  readonly #ready: string[] = [];
  #running = 0;
  #stopped = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Asks for a pass now. */
  add(key: string): void {
    const item = this.#item(key);
    clearTimeout(item.timer);
    item.timer = undefined;
    if (item.running) item.again = true;
    else if (!this.#ready.includes(key)) this.#ready.push(key);
    this.#start();
  }

  /** Forgets a key whose object is gone. */
  forget(key: string): void {
    const item = this.#items.get(key);
    if (!item) return;
    clearTimeout(item.timer);
    item.timer = undefined;
    if (!item.running) this.#items.delete(key);
  }

  /** Something changed that failing keys may wait for: they are looked at without their pause, once a second at most. */
  wake(matches: (key: string) => boolean, now = Date.now()): void {
    for (const [key, item] of this.#items)
      if (item.failures > 0 && !item.running && item.timer && now - item.startedAt > PAUSE_MS.base && matches(key))
        this.add(key);
  }

  /** No new passes; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const item of this.#items.values()) clearTimeout(item.timer);
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #item(key: string): Item {
    const known = this.#items.get(key);
    if (known) return known;
    const item = { running: false, again: false, failures: 0, passes: 0, startedAt: 0, timer: undefined };
    this.#items.set(key, item);
    return item;
  }

  #start(): void {
    while (!this.#stopped && this.#running < this.#options.concurrency) {
      const key = this.#ready.shift();
      if (key === undefined) return;
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    const item = this.#item(key);
    item.running = true;
    item.startedAt = Date.now();
    this.#running += 1;
    let outcome: Outcome = "retry";
    try {
      outcome = await this.#options.work(key);
    } catch (error) {
      this.#options.onError(key, error);
    }
    item.running = false;
    this.#running -= 1;
    this.#next(key, item, outcome);
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#start();
  }

  #next(key: string, item: Item, outcome: Outcome): void {
    item.failures = outcome === "retry" ? item.failures + 1 : 0;
    item.passes = outcome === "again" ? item.passes + 1 : 0;
    if (this.#stopped) return;
    if (item.again) {
      item.again = false;
      this.add(key);
    } else if (outcome === "retry") this.#later(key, item, pause(item.failures));
    else if (outcome === "again")
      this.#later(key, item, item.passes <= QUICK_PASSES ? 0 : pause(item.passes - QUICK_PASSES));
    else if (outcome === "poll") this.#later(key, item, this.#options.pollMs(key));
  }

  #later(key: string, item: Item, milliseconds: number): void {
    item.timer = setTimeout(() => this.add(key), milliseconds);
  }
}

const pause = (failures: number): number => Math.min(PAUSE_MS.base * 2 ** (failures - 1), PAUSE_MS.longest);
