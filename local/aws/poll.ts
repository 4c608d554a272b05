import { setTimeout as sleep } from "node:timers/promises";
import { callSettings } from "./call-settings.ts";

export interface Poll {
  /** What the wait is for, as the error message says it: `EKS cluster hub to become ACTIVE`. */
  readonly what: string;
  /** Milliseconds until the wait fails, unless the call sets its own. */
  readonly timeout: number;
}

/** What was waited for has not come yet: AWS goes on with it. */
export class GaveUpWaiting extends Error {}

/**
 * Calls `probe` until it returns something other than undefined. The pause grows from 0.2 to 10 seconds:
 * quick where an operation takes a moment, polite where it takes minutes.
 */
export async function poll<T>({ what, timeout }: Poll, probe: () => Promise<T | undefined>): Promise<T> {
  const settings = callSettings();
  const limit = settings.timeout ?? timeout;
  const deadline = Date.now() + limit;
  for (let pause = 200; ; pause = Math.min(pause * 1.5, 10_000)) {
    const result = await probe();
    if (result !== undefined) return result;
    if (settings.signal?.aborted) throw new Error(`cancelled while waiting for ${what}`);
    if (Date.now() + pause > deadline) throw new GaveUpWaiting(`gave up waiting for ${what} after ${limit / 1000} s`);
    await pauseFor(pause, settings.signal);
  }
}

/** A pause that a cancellation ends early; the next probe then decides. */
async function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(milliseconds, undefined, signal && { signal });
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
  }
}
