import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "../instance/addresses.ts";
import { findRunning, launch, lives, type Running, signalGroup } from "./launch.ts";
import { errorWithLog, logOf, noteEvent } from "./logs.ts";
import { untilReady } from "./ready.ts";
import type { ProcessSpec, ProcessState, ProcessStatus } from "./spec.ts";

const READY_SECONDS = 60;
const STOP_SECONDS = 10;
/** A process that lived this long has recovered: the pause before its next restart is the shortest again. */
const STABLE_MS = 60_000;

/** The pause before a restart, after `failures` short-lived runs in a row: 0.2 s, doubled each time, 30 s at most. */
export function pauseAfter(failures: number): number {
  return Math.min(30_000, 200 * 2 ** failures);
}

/** One process over all its runs: started, watched, started again after an exit that nobody asked for, stopped. */
export class Supervised {
  readonly spec: ProcessSpec;
  state: ProcessState = "starting";
  running: Running | undefined;
  restarts: number;
  message: string | undefined;

  readonly #instance: Instance;
  readonly #changed: () => Promise<void>;
  readonly #ending = new AbortController();
  /** How the present run ended. */
  #exit = Promise.withResolvers<string>();
  #adopted = false;
  #watching: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  /** `changed` is awaited whenever what must be recorded has changed. */
  constructor(instance: Instance, spec: ProcessSpec, changed: () => Promise<void>, restarts = 0) {
    this.#instance = instance;
    this.spec = spec;
    this.#changed = changed;
    this.restarts = restarts;
  }

  get status(): ProcessStatus {
    const { spec, state, running, restarts, message } = this;
    const log = logOf(this.#instance, spec.id);
    return { id: spec.id, state, pid: running?.pid, restarts, message, log };
  }

  /** First start. Resolves when ready; rejects, with nothing left running, when it exits before or isn't ready in time. */
  async start(): Promise<void> {
    const attempt = this.#run().then(
      () => this.#awaitReady(),
      (error: Error) => error.message,
    );
    // A stop waits for it, so that nothing is started behind its back.
    this.#watching = attempt.then(() => {});
    const problem = await attempt;
    if (this.#isStopping()) throw new Error(`process ${this.spec.id} was stopped while it was starting`);
    if (problem === undefined) {
      this.#settle("ready");
      this.#watching = this.#watch();
      return;
    }
    await this.#kill();
    this.running = undefined;
    this.#settle("failed", problem);
    await this.#changed();
    throw await errorWithLog(`process ${this.spec.id} did not start: ${problem}`, this.status.log);
  }

  /** Takes over a process that another supervisor started; when it has ended meanwhile, it is started again. */
  resume(recorded: Running | undefined): void {
    const alive = recorded !== undefined && lives(recorded) ? recorded : undefined;
    this.running = alive ?? findRunning(this.#instance, this.spec.id);
    this.#adopted = true;
    if (this.running === undefined) this.#exit.resolve("it ended while no supervisor was watching");
    else void this.#becomeReady();
    this.#watching = this.#watch();
  }

  /** Resolves once the process is ready, also when it is just being restarted; rejects when that takes too long. */
  async untilReady(): Promise<void> {
    const deadline = Date.now() + (this.spec.readySeconds ?? READY_SECONDS) * 1000;
    while (this.state === "starting" || this.state === "waiting") {
      if (Date.now() > deadline) break;
      await sleep(100);
    }
    if (this.state === "ready") return;
    const message = `process ${this.spec.id} is ${this.state}: ${this.message ?? "not ready in time"}`;
    throw await errorWithLog(message, this.status.log);
  }

  /** Finds out whether an adopted process has ended: it is not a child of ours, so no signal tells. */
  check(): void {
    const run = this.running;
    if (!this.#adopted || run === undefined || lives(run) || this.running !== run) return;
    this.#exit.resolve("its exit code is unknown");
  }

  /** Ends the process and all of its process group, TERM first, KILL after `stopSeconds`. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.state = "stopping";
    this.#ending.abort();
    await this.#kill();
    await this.#watching;
    // The watcher may have been in the middle of a restart.
    await this.#kill();
    this.running = undefined;
  }

  async #run(): Promise<void> {
    const exit = Promise.withResolvers<string>();
    this.#exit = exit;
    this.running = undefined;
    this.#adopted = false;
    // Recorded before it is started: a new supervisor then looks for it by its mark.
    await this.#changed();
    this.running = await launch(this.#instance, this.spec, exit.resolve);
    await this.#changed();
  }

  /** Gives undefined when ready, else what was wrong. */
  async #awaitReady(): Promise<string | undefined> {
    const { ready: probe, readySeconds = READY_SECONDS } = this.spec;
    if (probe === undefined) return undefined;
    const ended = new AbortController();
    let how: string | undefined;
    void this.#exit.promise.then((text) => {
      how = text;
      ended.abort();
    });
    const limit = AbortSignal.any([ended.signal, this.#ending.signal, AbortSignal.timeout(readySeconds * 1000)]);
    const problem = await untilReady(probe, limit);
    if (problem === undefined) return undefined;
    if (how !== undefined) return `it ended before it was ready (${how})`;
    return `it was not ready within ${readySeconds} s (${problem})`;
  }

  async #watch(): Promise<void> {
    let failures = 0;
    while (this.state !== "stopping") {
      const how = await this.#exit.promise;
      if (this.#isStopping()) return;
      const lifetime = Date.now() - Date.parse(this.running?.startedAt ?? new Date().toISOString());
      failures = lifetime >= STABLE_MS ? 0 : failures + 1;
      await this.#restart(how, pauseAfter(failures - 1));
    }
  }

  async #restart(how: string, pause: number): Promise<void> {
    const { id, log } = this.status;
    await this.#note(`${id} ended (${how}): starting it again in ${pause / 1000} s. Log: ${log}`);
    this.#settle("waiting", `it ended (${how}) and is started again`);
    await this.#kill();
    await sleep(pause, undefined, { signal: this.#ending.signal }).catch(() => {});
    if (this.#isStopping()) return;
    this.restarts += 1;
    try {
      await this.#run();
      this.#settle("starting", `it ended (${how}) and was started again`);
      void this.#becomeReady();
    } catch (error) {
      this.#exit.resolve((error as Error).message);
    }
  }

  async #becomeReady(): Promise<void> {
    const run = this.running;
    const problem = await this.#awaitReady();
    if (run === undefined || this.running !== run || this.state !== "starting") return;
    if (problem === undefined) {
      if (this.message !== undefined) await this.#note(`${this.spec.id} is ready again (restart ${this.restarts})`);
      this.#settle("ready", this.message);
    } else if (lives(run)) {
      this.message = problem;
      await this.#note(`${this.spec.id}: ${problem}. Log: ${this.status.log}`);
      // Ends the run, so that the watcher starts another one.
      await this.#kill();
    }
  }

  /** Ends what is left of the present run's process group. */
  async #kill(): Promise<void> {
    if (this.running === undefined) return;
    const { pid } = this.running;
    const { id, stopSeconds = STOP_SECONDS } = this.spec;
    const deadline = Date.now() + stopSeconds * 1000;
    let signal: NodeJS.Signals | undefined = stopSeconds > 0 ? "SIGTERM" : "SIGKILL";
    while (signalGroup(this.#instance, id, pid, signal) > 0) {
      signal = Date.now() >= deadline ? "SIGKILL" : undefined;
      await sleep(50);
    }
    if (this.#adopted) this.#exit.resolve("it was stopped");
  }

  async #note(event: string): Promise<void> {
    await noteEvent(this.#instance, event);
  }

  #settle(state: ProcessState, message?: string): void {
    if (this.#isStopping()) return;
    this.state = state;
    this.message = message;
  }

  #isStopping(): boolean {
    return this.state === "stopping";
  }
}
