import { WorkQueue } from "../../work-queue.ts";
import type { Log } from "../listeners.ts";
import type { ApsContext } from "./operation.ts";
import { workspaceReconciler } from "./reconcile.ts";
import { openStore } from "./store.ts";

interface ServiceOptions extends Omit<ApsContext, "store" | "wake"> {
  /** Where its state is. */
  readonly folder: string;
  readonly log: Log;
}

/** Starts Amazon Managed Service for Prometheus: its state, and the background work on it. */
export async function startAps({ folder, log, ...options }: ServiceOptions) {
  const store = await openStore(folder);
  const work = new WorkQueue({
    pause: { first: 500, longest: 15_000 },
    work: workspaceReconciler({ ...options, store }),
    onError: (id, error) => log(`workspace ${id}: ${(error as Error).message}; trying again`),
  });
  const context: ApsContext = {
    ...options,
    store,
    // After the caller has answered.
    wake: (id) => void setImmediate(() => work.add(id)),
  };
  // Continues what a killed gateway left half done.
  for (const { workspace } of store.list()) work.add(workspace.workspaceId);
  return { context, idle: () => work.idle(), stop: () => work.stop() };
}
