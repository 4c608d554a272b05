import { setTimeout as sleep } from "node:timers/promises";
import type { Instance } from "../instance/addresses.ts";
import { afterRun, type Exits, noExits, pauseAfter, STABLE_MS } from "./exits.ts";
import { findRunning, launch, lives, type Running, signalGroup } from "./launch.ts";
import { errorWithLog, logOf, noteEvent } from "./logs.ts";
import { untilReady } from "./ready.ts";
import type { ProcessSpec, ProcessState, ProcessStatus } from "./spec.ts";

const READY_SECONDS = 60;
const STOP_SECONDS = 10;

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
  #exits: Exits;
  #watching: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  /**
   * @param changed awaited whenever what must be recorded has changed
   * @param exits of earlier attempts to start it
   */
  constructor(instance: Instance, spec: ProcessSpec, changed: () => Promise<void>, restarts = 0, exits = noExits) {
    this.#instance = instance;
    this.spec = spec;
    this.#changed = changed;
    this.restarts = restarts;
    this.#exits = exits;
  }

  get status(): ProcessStatus {
    const { spec, state, running, restarts, message } = this;
    const log = logOf(this.#instance, spec.id);
    return { id: spec.id, state, pid: running?.pid, restarts, message, log, ...this.exits };
  }

  get exits(): Exits {
    return this.#isStable() ? { ...this.#exits, shortRuns: 0 } : this.#exits;
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
    this.#exits = afterRun(this.#exits, false, problem, new Date());
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
    while (this.state !== "stopping") {
      const how = await this.#exit.promise;
      if (this.#isStopping()) return;
      this.#exits = afterRun(this.#exits, this.#isStable(), how, new Date());
      await this.#restart(how, pauseAfter(this.#exits));
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

  #isStable(): boolean {
    return this.state === "ready" && Date.now() - Date.parse(this.running?.startedAt ?? "") >= STABLE_MS;
  }

  #isStopping(): boolean {
    return this.state === "stopping";
  }
}
