/** A work queue by key: one pass at a time for each, many side by side, with pauses that grow for each failing key alone. */

/** What a pass says of the time after it: milliseconds until the next, `wait` for another reason to look, `retry` as one that failed. */
export type Next = number | "again" | "retry" | "wait";

export interface QueueOptions {
  /** Passes at the same time. @default no limit */
  readonly concurrency?: number;
  readonly work: (key: string) => Promise<Next>;
  /** A pass that rejects is told, and counts as failed. */
  readonly onError: (key: string, error: unknown) => void;
  /** Pauses after failures, in milliseconds. @default Crossplane's own: 1 s, at most 60 s (crossplane-runtime, pkg/ratelimiter) */
  readonly pause?: { readonly first: number; readonly longest: number };
}

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
  readonly #options: Required<QueueOptions>;
  readonly #items = new Map<string, Item>();
  readonly #ready: string[] = [];
  #running = 0;
  #stopped = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions) {
    this.#options = { concurrency: Number.POSITIVE_INFINITY, pause: { first: 1000, longest: 60_000 }, ...options };
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
    const { first } = this.#options.pause;
    for (const [key, item] of this.#items)
      if (item.failures > 0 && !item.running && item.timer && now - item.startedAt > first && matches(key))
        this.add(key);
  }

  /** Resolves when no pass runs, and none is asked for but those that have a time. */
  async idle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** No new passes; resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const item of this.#items.values()) clearTimeout(item.timer);
    await this.idle();
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
    let next: Next = "retry";
    try {
      next = await this.#options.work(key);
    } catch (error) {
      this.#options.onError(key, error);
    }
    item.running = false;
    this.#running -= 1;
    this.#next(key, item, next);
    this.#start();
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #next(key: string, item: Item, next: Next): void {
    item.failures = next === "retry" ? item.failures + 1 : 0;
    item.passes = next === "again" ? item.passes + 1 : 0;
    if (this.#stopped) return;
    if (item.again) {
      item.again = false;
      this.add(key);
    } else if (next === "retry") this.#later(key, item, this.#pause(item.failures));
    else if (next === "again")
      this.#later(key, item, item.passes <= QUICK_PASSES ? 0 : this.#pause(item.passes - QUICK_PASSES));
    else if (next !== "wait") this.#later(key, item, next);
  }

  #later(key: string, item: Item, milliseconds: number): void {
    item.timer = setTimeout(() => this.add(key), milliseconds);
  }

  #pause(failures: number): number {
    const { first, longest } = this.#options.pause;
    return Math.min(first * 2 ** (failures - 1), longest);
  }
}
