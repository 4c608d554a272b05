import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessStatus } from "../supervisor/client.ts";
import { exitsLine, keepsExiting } from "../supervisor/exits.ts";
import { errorWithLog } from "../supervisor/logs.ts";
import type { Guard } from "./steps.ts";

const POLL_MS = 1000;

/**
 * The guard of commands that wait for the processes of an instance. It rejects once a process keeps exiting, with the exit code, the
 * last lines and the path of its log; at the end of a step that failed, for a process that has exited and isn't ready. Only exits
 * since the command started count: a process that kept exiting before might recover.
 */
export function processGuard(
  list: () => Promise<readonly ProcessStatus[]>,
  since = new Date(),
  pause = POLL_MS,
): Guard {
  /** Short runs before the command started, by process. */
  const earlier = new Map<string, number>();
  const exited = async () => {
    const recent = [];
    for (const status of await list()) {
      const { id, shortRuns, lastExit } = status;
      const isRecent = lastExit !== undefined && Date.parse(lastExit.at) >= since.getTime();
      // A stable run sets the number back to 0.
      const before = isRecent ? Math.min(earlier.get(id) ?? 0, shortRuns) : shortRuns;
      earlier.set(id, before);
      if (isRecent) recent.push({ ...status, shortRuns: shortRuns - before });
    }
    return recent;
  };
  return async (signal) => {
    while (!signal.aborted) {
      const failing = (await exited()).find(keepsExiting);
      if (failing !== undefined) throw await errorWithLog(`process ${failing.id} ${exitsLine(failing)}`, failing.log);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
    const absent = (await exited()).find(({ state }) => state !== "ready" && state !== "stopping");
    if (absent === undefined) return;
    throw await errorWithLog(`process ${absent.id} is ${absent.state}: ${absent.lastExit?.how}`, absent.log);
  };
}
