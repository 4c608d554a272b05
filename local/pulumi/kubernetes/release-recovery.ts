/** Releases that an interrupted helm left in a pending state. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../framework/index.ts";
import type { Helm } from "./helm.ts";

/** How long another helm that may still be at work is given to finish, in ms. */
const GRACE_MS = 15_000;
const POLL_MS = 1000;

/**
 * Brings a release out of `pending-*` (helm refuses to touch it: "another operation is in progress"), as Helm's own documentation advises:
 * a first installation is uninstalled, a later operation is rolled back to the last good revision. Anything else is left alone.
 */
export async function settle(
  helm: Helm,
  namespace: string,
  name: string,
  context: { log: Log; signal: AbortSignal },
): Promise<void> {
  const status = await waitForOthers(helm, namespace, name, context);
  if (!status || !isUnderWay(status)) return;
  const history = status === "uninstalling" ? [] : await helm.history(namespace, name);
  const good = history.filter((revision) => ["deployed", "superseded"].includes(revision.status)).at(-1);
  const last = good ? `rolling back to revision ${good.revision}` : "uninstalling its rest";
  context.log.warning(`release ${namespace}/${name} is ${status} from an interrupted run: ${last}`);
  const args = good ? ["rollback", name, String(good.revision)] : ["uninstall", name, "--ignore-not-found", "--wait"];
  await helm.run([...args, "--namespace", namespace], "", context.signal);
}

function isUnderWay(status: string): boolean {
  return status.startsWith("pending-") || status === "uninstalling";
}

async function waitForOthers(
  helm: Helm,
  namespace: string,
  name: string,
  { log, signal }: { log: Log; signal: AbortSignal },
) {
  const deadline = Date.now() + GRACE_MS;
  for (;;) {
    const found = await helm.metadata(namespace, name);
    if (!found || !isUnderWay(found.status) || Date.now() >= deadline || signal.aborted) return found?.status;
    log.status(`release ${namespace}/${name} is ${found.status}: waiting in case another helm is at work`);
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
