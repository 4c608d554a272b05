import { setTimeout as sleep } from "node:timers/promises";
import { findInstance } from "../instance/instance.ts";
import { tryLock } from "../instance/lock.ts";
import { statOf } from "../instance/processes.ts";
import { startGuard } from "./guard.ts";
import { noteEvent } from "./logs.ts";
import { serve } from "./server.ts";
import { Supervisor } from "./supervisor.ts";

// The daemon of one instance (FLEET_LOCAL_DIR). Its guard, a shell loop, starts it again unless it ends with 0.
const LOCK_SECONDS = 20;

const instance = await findInstance();
if (instance === undefined) {
  console.error(`no instance is open in ${process.env["FLEET_LOCAL_DIR"]}: open it first (npm start)`);
  process.exit(0);
}

const lockName = `${instance.index}/supervisor`;
const lock = await patiently(() => tryLock(lockName));
if (lock === undefined) {
  console.error(`another supervisor of ${instance.dir} is running: this one isn't needed`);
  process.exit(0);
}

const supervisor = new Supervisor(instance);
await supervisor.resume();
const server = await serve(supervisor, instance.paths.supervisorSocket, () => process.exit(0));

process.on("SIGTERM", () => {
  void supervisor.shutdown().then(() => process.exit(0));
});
process.on("SIGHUP", () => {});

const guard = process.ppid;
const watching = new AbortController();
void supervisor.watch(watching.signal).catch(fail);
void followGuard().catch(fail);

/** When the guard is killed, a new one (with a new supervisor) takes over; this one leaves without stopping anything. */
async function followGuard(): Promise<void> {
  while (statOf(guard) !== undefined && process.ppid === guard) await sleep(500);
  if (instance === undefined) return;
  await noteEvent(instance, "the supervisor's guard is gone: handing over to a new one");
  watching.abort();
  server.close();
  await startGuard(instance);
  process.exit(0);
}

async function patiently<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = Date.now() + LOCK_SECONDS * 1000;
  for (;;) {
    const result = await attempt();
    if (result !== undefined || Date.now() > deadline) return result;
    await sleep(100);
  }
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
