/** What every controller of ours that runs in a pod does around its work: log, orderly end. */

export type Log = (level: "info" | "debug" | "error", message: string, details?: object) => void;

/** Log lines are JSON, one each, on standard error. */
export const logFor =
  (debug: boolean): Log =>
  (level, message, details = {}) => {
    if (level === "debug" && !debug) return;
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...details })}\n`);
  };

/** Runs until SIGTERM or SIGINT; `body` then comes to its end by itself. Ends the process. */
export async function runUntilStopped(body: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const)
    process.on(name, () => {
      logFor(false)("info", "stopping", { signal: name });
      stop.abort();
    });
  try {
    await body(stop.signal);
    process.exit(0);
  } catch (error) {
    logFor(false)("error", (error as Error).message);
    process.exit(1);
  }
}
