import { backgroundWork } from "../background.ts";
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
  const work = backgroundWork("workspace", log, workspaceReconciler({ ...options, store }));
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
