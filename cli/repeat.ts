import { setTimeout } from "node:timers/promises";

/** What ends a command that goes on by itself. */
export function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

/** Waits, at most until the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch((error: Error) => {
    if (error.name !== "AbortError") throw error;
  });
}
