import { setTimeout as sleep } from "node:timers/promises";

export interface Poll {
  /** What is waited for, for the error message: `EKS cluster hub to become ACTIVE`. */
  readonly what: string;
  /** Milliseconds until the wait fails. */
  readonly timeout: number;
}

/**
 * Calls `probe` until it returns something other than undefined. The pause grows from 0.2 to 10 seconds:
 * quick where an operation takes a moment, polite where it takes minutes.
 */
export async function poll<T>({ what, timeout }: Poll, probe: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + timeout;
  for (let pause = 200; ; pause = Math.min(pause * 1.5, 10_000)) {
    const result = await probe();
    if (result !== undefined) return result;
    if (Date.now() + pause > deadline) throw new Error(`gave up waiting for ${what} after ${timeout / 1000} s`);
    await sleep(pause);
  }
}
