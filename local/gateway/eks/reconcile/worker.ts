import { setTimeout as sleep } from "node:timers/promises";

/** Background work by key: at most one run per key at a time, none lost. */
export interface Worker {
  /** Has the key looked at soon; a key that runs now runs once more afterwards. */
  wake(key: string): void;
  /** Resolves when nothing runs and nothing is due. */
  idle(): Promise<void>;
  /** Lets running work end and starts no more. */
  stop(): Promise<void>;
}

/** What a run says of the time after it: undefined for "when woken", else a delay in milliseconds. */
export type Again = number | undefined;

interface State {
  due: boolean;
  running: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
  failures: number;
}

/** A worker over `run`. A rejected run is reported to `onError` and tried again, later each time (`backoff`, in milliseconds). */
export function worker(
  run: (key: string) => Promise<Again>,
  onError: (key: string, error: unknown) => void,
  backoff: { readonly first: number; readonly most: number } = { first: 500, most: 15_000 },
): Worker {
  const states = new Map<string, State>();
  let stopped = false;
  const start = (key: string, state: State): void => {
    if (stopped || state.running !== undefined || !state.due) return;
    state.due = false;
    state.running = once(key, state).finally(() => {
      state.running = undefined;
      start(key, state);
    });
  };
  const once = async (key: string, state: State): Promise<void> => {
    try {
      const again = await run(key);
      state.failures = 0;
      if (again !== undefined) later(key, state, again);
    } catch (error) {
      onError(key, error);
      state.failures += 1;
      later(key, state, Math.min(backoff.most, backoff.first * 2 ** (state.failures - 1)));
    }
  };
  const later = (key: string, state: State, delay: number): void => {
    clearTimeout(state.timer);
    state.timer = setTimeout(() => wake(key), delay);
  };
  const wake = (key: string): void => {
    const state = states.get(key) ?? { due: false, running: undefined, timer: undefined, failures: 0 };
    states.set(key, state);
    clearTimeout(state.timer);
    state.due = true;
    // After the caller has answered.
    setImmediate(() => start(key, state));
  };
  return {
    wake,
    idle: async () => {
      while ([...states.values()].some((state) => state.running !== undefined || state.due)) await sleep(5);
    },
    stop: async () => {
      stopped = true;
      for (const state of states.values()) clearTimeout(state.timer);
      await Promise.allSettled([...states.values()].map((state) => state.running));
    },
  };
}
