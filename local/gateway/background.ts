import { type QueueOptions, WorkQueue } from "../work-queue.ts";
import type { Log } from "./listeners.ts";

/** Work on things of a kind that their callers don't wait for; what fails is told by the kind's name, and tried again. */
export const backgroundWork = (kind: string, log: Log, work: QueueOptions["work"]): WorkQueue =>
  new WorkQueue({
    pause: { first: 500, longest: 15_000 },
    work,
    onError: (key, error) => log(`${kind} ${key}: ${(error as Error).message}; trying again`),
  });
