import { expect, it } from "vitest";
import { processGuard } from "../../../cli/process-guard.ts";
import type { ProcessStatus } from "../../../supervisor/client.ts";

const start = new Date("2026-11-28T12:00:00Z");
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000).toISOString();

/** Watches a process whose short runs and last exit change from list to list; the last one repeats. */
async function watch(...lists: readonly (readonly [shortRuns: number, seconds: number])[]): Promise<void> {
  let calls = 0;
  const over = new AbortController();
  const list = async () => {
    const [shortRuns, seconds] = lists[Math.min(calls++, lists.length - 1)] ?? [0, 0];
    if (calls > lists.length) over.abort();
    const status: Partial<ProcessStatus> = {
      ...{ id: "kubelet", state: "ready", log: "/none", shortRuns },
      lastExit: { how: "exit code 1", at: after(seconds) },
    };
    return [status as ProcessStatus];
  };
  await processGuard(list, start, 1)(over.signal);
}

it("counts only the short runs since the command started", async () => {
  await expect(watch([2, -5], [3, 1], [4, 2])).resolves.toBeUndefined();
  await expect(watch([2, -5], [3, 1], [4, 2], [5, 3])).rejects.toThrow("process kubelet keeps exiting: 3 short runs");
});

it("counts all short runs after a stable one", async () => {
  await expect(watch([2, -5], [0, 1], [3, 2])).rejects.toThrow("process kubelet keeps exiting: 3 short runs");
});
