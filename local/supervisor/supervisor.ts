import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Instance } from "../instance/addresses.ts";
import { processesOf } from "../instance/processes.ts";
import type { Exits } from "./exits.ts";
import { signalGroup } from "./launch.ts";
import { capLogs, noteEvent } from "./logs.ts";
import { dropRecord, loadRecord, saveRecord } from "./record.ts";
import { checkSpec, type ProcessSpec, type ProcessStatus } from "./spec.ts";
import { Supervised } from "./supervised.ts";

/** Id under which the daemon itself (and its guard) is marked. */
export const SUPERVISOR_ID = "supervisor";

const CHECK_MS = 300;
const CAP_LOGS_MS = 30_000;

/** All long-running processes of one instance. */
export class Supervisor {
  readonly #instance: Instance;
  readonly #processes = new Map<string, Supervised>();
  #saving: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  /** Takes over what an earlier supervisor of this instance recorded, and ends what runs without being recorded. */
  async resume(): Promise<void> {
    const recorded = await loadRecord(this.#instance);
    for (const { spec, restarts } of recorded) this.#add(spec, restarts);
    for (const { spec, running } of recorded) this.#processes.get(spec.id)?.resume(running);
    if (recorded.length > 0) await noteEvent(this.#instance, `supervisor took over ${recorded.length} processes`);
    await this.#endUnrecorded();
  }

  /** Watches over adopted processes and the size of logs until `signal` is aborted. */
  async watch(signal: AbortSignal): Promise<void> {
    let capped = Date.now();
    while (!signal.aborted) {
      for (const process of this.#processes.values()) process.check();
      if (Date.now() - capped > CAP_LOGS_MS) {
        await capLogs(this.#instance);
        capped = Date.now();
      }
      await sleep(CHECK_MS, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Starts a process and resolves when it is ready. Idempotent: a process that runs with the same spec stays, one with
   * another spec is stopped first. Rejects with the end of its log when it exits first or isn't ready in time.
   */
  async start(spec: ProcessSpec): Promise<ProcessStatus> {
    checkSpec(spec);
    let exits: Exits | undefined;
    for (;;) {
      if (this.#closing) throw new Error(`process ${spec.id} can't be started: the supervisor is shutting down`);
      const present = this.#processes.get(spec.id);
      if (present === undefined) {
        const process = this.#add(spec, 0, exits);
        await process.start();
        return process.status;
      }
      const isSame = isDeepStrictEqual(present.spec, spec);
      if (isSame && present.state !== "failed" && present.state !== "stopping") {
        await present.untilReady();
        return present.status;
      }
      exits = isSame && present.state === "failed" ? present.exits : undefined;
      await this.stop(spec.id);
    }
  }

  /** Stops a process and forgets it. Idempotent. */
  async stop(id: string): Promise<void> {
    const process = this.#processes.get(id);
    if (process === undefined) return;
    await process.stop();
    if (this.#processes.get(id) === process) this.#processes.delete(id);
    await this.#save();
  }

  /** All processes, in the order of their start. */
  list(): ProcessStatus[] {
    return [...this.#processes.values()].map((process) => process.status);
  }

  /** Stops everything and removes the record. */
  async shutdown(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#processes.keys()].map((id) => this.stop(id)));
    await this.#saving;
    await dropRecord(this.#instance);
  }

  #add(spec: ProcessSpec, restarts: number, exits?: Exits): Supervised {
    const process = new Supervised(this.#instance, spec, () => this.#save(), restarts, exits);
    this.#processes.set(spec.id, process);
    return process;
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => {
      const kept = [...this.#processes.values()].filter((process) => process.state !== "failed");
      return saveRecord(
        this.#instance,
        kept.map(({ spec, running, restarts }) => ({ spec, running, restarts })),
      );
    });
    return this.#saving;
  }

  async #endUnrecorded(): Promise<void> {
    const leaders = processesOf(this.#instance, ({ session, pid }) => session === pid);
    for (const { id, pid } of leaders) {
      if (id === undefined || id === SUPERVISOR_ID || this.#processes.has(id)) continue;
      await noteEvent(this.#instance, `${id} (process ${pid}) runs but is not recorded: ending it`);
      signalGroup(this.#instance, id, pid, "SIGKILL");
    }
  }
}
