import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "../instance/addresses.ts";
import { exchange } from "../instance/exchange.ts";
import { readText } from "../instance/files.ts";
import { withLock } from "../instance/lock.ts";
import { processesOf } from "../instance/processes.ts";
import { startGuard } from "./guard.ts";
import { errorWithLog, logOf } from "./logs.ts";
import type { ProcessSpec, ProcessStatus } from "./spec.ts";
import { SUPERVISOR_ID } from "./supervisor.ts";

export type { ProcessSpec, ProcessStatus } from "./spec.ts";

const STARTUP_SECONDS = 30;
/** How long the supervisor may take to list its processes, also on a busy machine. */
const LIST_SECONDS = 60;

/** Talks to the supervisor of an instance. */
export interface SupervisorClient {
  /**
   * Starts a process and resolves when it is ready. Idempotent: a process that runs with the same spec stays, one with
   * another spec is replaced. Rejects with the end of its log when it exits first or isn't ready in time. A supervisor
   * that isn't there, or is killed meanwhile, is started.
   */
  start(spec: ProcessSpec): Promise<ProcessStatus>;
  /** Stops a process and its process group, and forgets it. Idempotent; a supervisor that was killed is started for it. */
  stop(id: string): Promise<void>;
  /** All processes; empty when no supervisor runs. */
  list(): Promise<ProcessStatus[]>;
  /** Stops all processes and the supervisor itself. Idempotent; processes of a supervisor that was killed are found and stopped too. */
  shutdown(): Promise<void>;
}

/** The client of an open instance. Nothing is contacted or started yet. */
export function supervisorOf(instance: Instance): SupervisorClient {
  return {
    start: (spec) => persist(instance, () => call(instance, "POST", "/start", spec)) as Promise<ProcessStatus>,
    stop: async (id) => {
      if (await isIdle(instance)) return;
      await persist(instance, () => call(instance, "POST", "/stop", { id }));
    },
    list: async () => {
      try {
        return (await call(instance, "GET", "/list")) as ProcessStatus[];
      } catch (error) {
        if (isUnreachable(error)) return [];
        throw error;
      }
    },
    shutdown: async () => {
      if (await isIdle(instance)) return;
      await persist(instance, () => call(instance, "POST", "/shutdown"));
      await gone(instance);
    },
  };
}

/** Starts the supervisor of an open instance unless it runs, and resolves once it answers. */
async function ensureSupervisor(instance: Instance): Promise<void> {
  await withLock(`${instance.index}/supervisor-start`, async () => {
    if (await isUp(instance)) return;
    const present = processesOf(instance).some((process) => process.id === SUPERVISOR_ID);
    if (!present) await startGuard(instance);
    const deadline = Date.now() + STARTUP_SECONDS * 1000;
    while (!(await isUp(instance))) {
      if (Date.now() > deadline)
        throw await errorWithLog(`the supervisor of ${instance.dir} does not answer`, logOf(instance, SUPERVISOR_ID));
      await sleep(50);
    }
  });
}

/** Calls; when there is no supervisor (any more), starts one and calls again: every operation is idempotent. */
async function persist<T>(instance: Instance, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreachable(error) || tries >= 5) throw error;
      await ensureSupervisor(instance);
    }
  }
}

/** Nothing runs and nothing is recorded as running: no need to start a supervisor only to stop something. */
async function isIdle(instance: Instance): Promise<boolean> {
  if ((await readText(instance.paths.record)) !== undefined) return false;
  return processesOf(instance).every((process) => process.id === undefined);
}

async function isUp(instance: Instance): Promise<boolean> {
  try {
    await call(instance, "GET", "/list");
    return true;
  } catch (error) {
    if (isUnreachable(error)) return false;
    throw error;
  }
}

async function gone(instance: Instance): Promise<void> {
  while (processesOf(instance).some((process) => process.id === SUPERVISOR_ID)) await sleep(50);
}

function isUnreachable(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "ECONNRESET" || code === "EPIPE";
}

async function call(instance: Instance, method: string, path: string, body?: object): Promise<unknown> {
  const target = { socketPath: instance.paths.supervisorSocket, path };
  // Any other operation takes as long as the process that it starts or stops.
  const timeout = path === "/list" ? LIST_SECONDS * 1000 : undefined;
  const { status, text } = await exchange(target, { method, timeout }, body && JSON.stringify(body));
  const answer = JSON.parse(text) as { error?: string };
  if (status !== 200) throw new Error(answer.error);
  return answer;
}
