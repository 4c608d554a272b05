/** The life of a process that the Pulumi engine started. */

/** How often the process looks whether the one that started it is still there. */
const ORPHAN_CHECK_MS = 1000;

/**
 * Calls `stop` once when the engine ends this process (SIGINT or SIGTERM: each plugin has a process group of its own, so a Ctrl-C at
 * the terminal does not come here directly) or when the engine itself is gone, e.g. killed.
 */
export function onEnd(stop: () => void): void {
  let stopped = false;
  const once = () => {
    if (stopped) return;
    stopped = true;
    clearInterval(timer);
    stop();
  };
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) once();
  }, ORPHAN_CHECK_MS);
  timer.unref();
  process.on("SIGINT", once);
  process.on("SIGTERM", once);
}

/** The engine's address: the last argument of every plugin process; undefined when started by hand. */
export function engineAddress(): string | undefined {
  const last = process.argv.at(-1);
  return process.argv.length > 2 && last && /^[\w.:[\]-]+:\d+$/.test(last) ? last : undefined;
}
