import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Instance, readFolder, readJson, writeAtomic } from "../instance/index.ts";
import { allProcesses, kill, killAll, statOf } from "../instance/processes.ts";

/** A change to the stack that runs on its own: it goes on when the command that started it is killed. */
interface StackOperation {
  readonly pid: number;
  readonly startTime: number;
  /** For people: `pulumi up`. */
  readonly title: string;
  readonly log: string;
  /** Where in the log its output begins. */
  readonly offset: number;
}

const POLL_MS = 200;
const CANCEL_SECONDS = 120;
/** What the kernel calls a provider's process: 15 letters of its program's name. */
const PROVIDER = "pulumi-resource";

const recordOf = (instance: Instance) => join(instance.paths.pulumi, "operation.json");

/** The log of the stack's operations, newest last. */
export const operationLog = (instance: Instance) => join(instance.paths.logs, "pulumi.log");

/** What works on the stack now: our own operation by its record, anybody's (also a person's) by the backend's lock. */
async function running(instance: Instance): Promise<StackOperation | undefined> {
  const operation = await readJson<StackOperation>(recordOf(instance));
  if (operation !== undefined && (await statOf(operation.pid))?.startTime === operation.startTime) return operation;
  for (const { pid } of await locks(instance)) {
    const process = await statOf(pid);
    if (process?.command !== "pulumi") continue;
    const log = operationLog(instance);
    const offset = (await stat(log)).size; // a person's writes to a terminal
    return { pid, startTime: process.startTime, title: "pulumi", log, offset };
  }
  return undefined;
}

/** The locks of Pulumi's file backend. */
async function locks(instance: Instance): Promise<{ pid: number }[]> {
  const folder = join(instance.paths.pulumi, ".pulumi", "locks");
  const names = (await readFolder(folder, { recursive: true })) ?? [];
  const found = await Promise.all(
    names.filter((name) => name.endsWith(".json")).map((name) => readJson<{ pid: number }>(join(folder, name))),
  );
  return found.filter((lock) => lock !== undefined);
}

/** Whether a lock is left of a Pulumi process that is gone. */
export async function isLockStale(instance: Instance): Promise<boolean> {
  return (await locks(instance)).length > 0 && (await running(instance)) === undefined;
}

/** Gives every whole line that is appended to a file from an offset on, until `ended` says so and the file is read, or `signal` is aborted. */
async function follow(
  file: string,
  offset: number,
  ended: () => Promise<boolean>,
  onLine: (line: string) => void,
  signal?: AbortSignal,
) {
  const handle = await open(file, "r");
  try {
    let position = offset;
    let rest = "";
    for (;;) {
      const last = await ended();
      const size = (await handle.stat()).size;
      const buffer = Buffer.alloc(Math.max(0, size - position));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      position += bytesRead;
      const lines = (rest + buffer.toString("utf8", 0, bytesRead)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
      if (last) break;
      await sleep(POLL_MS, undefined, signal && { signal });
    }
    if (rest !== "") onLine(rest);
  } finally {
    await handle.close();
  }
}

/**
 * Ends the providers of an operation that was killed: they would go on with what they were asked for, up to five minutes, until they look
 * for the engine (sdk/v3/go/pulumi/provider/main.go of Pulumi 3.276.0, Healthcheck). They are in the session that the operation began.
 */
const endProviders = (operation: number): Promise<void> =>
  killAll(() => allProcesses().filter(({ session, command }) => session === operation && command === PROVIDER));

/**
 * Waits for the operation that an interrupted command left behind, if there is one, and shows its output from the beginning. It goes
 * on when `signal` ends the wait.
 */
export async function awaitOperation(
  instance: Instance,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const left = await running(instance);
  if (left !== undefined) {
    onLine(`${left.title} of an interrupted command still runs (process ${left.pid}): waiting for its end`);
    await follow(left.log, left.offset, async () => (await running(instance)) === undefined, onLine, signal);
  }
  const ended = await readJson<StackOperation>(recordOf(instance));
  if (ended !== undefined) await endProviders(ended.pid);
  await rm(recordOf(instance), { force: true });
}

/** Ends a running operation: first kindly (what is in flight is finished and recorded), after two minutes by force. */
export async function cancelOperation(instance: Instance, report: (line: string) => void): Promise<void> {
  const left = await running(instance);
  if (left !== undefined) {
    report(`${left.title} runs (process ${left.pid}): cancelling it`);
    kill(left.pid, "SIGINT");
    const deadline = Date.now() + CANCEL_SECONDS * 1000;
    while ((await running(instance)) !== undefined && Date.now() < deadline) await sleep(POLL_MS);
    if ((await running(instance)) !== undefined) kill(-left.pid);
    while ((await running(instance)) !== undefined) await sleep(POLL_MS);
    await endProviders(left.pid);
  }
  await rm(recordOf(instance), { force: true });
}

export interface OperationSpec {
  readonly title: string;
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * Runs an operation in a session of its own and shows its output; resolves to its exit code. INT and TERM to this process
 * cancel it kindly, and so does `signal`, after two minutes by force; when this process is killed it goes on, and the next command
 * waits for it.
 */
export async function runOperation(
  instance: Instance,
  spec: OperationSpec,
  onLine: (line: string) => void,
  signal?: AbortSignal,
): Promise<number> {
  const path = operationLog(instance);
  const log = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600);
  const offset = (await log.stat()).size;
  const [file, ...args] = spec.argv;
  const child = spawn(file, args, { cwd: spec.cwd, env: spec.env, detached: true, stdio: ["ignore", log.fd, log.fd] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, name) =>
      code === null ? reject(new Error(`${spec.title} was ended by ${name}`)) : resolve(code),
    );
  });
  let over = false;
  const watched = ended.finally(() => {
    over = true;
  });
  watched.catch(() => {}); // awaited below, after the output
  await log.close();
  const cancel = () => {
    onLine(`cancelling ${spec.title}: what is in flight is finished first`);
    child.kill("SIGINT");
  };
  let force: NodeJS.Timeout | undefined;
  const end = () => {
    cancel();
    force = setTimeout(() => child.pid && kill(-child.pid), CANCEL_SECONDS * 1000);
  };
  process.on("SIGINT", cancel).on("SIGTERM", cancel);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  try {
    if (child.pid !== undefined) {
      const startTime = (await statOf(child.pid))?.startTime ?? 0;
      const operation: StackOperation = { pid: child.pid, startTime, title: spec.title, log: path, offset };
      await writeAtomic(recordOf(instance), `${JSON.stringify(operation)}\n`);
      await follow(path, offset, async () => over, onLine);
    }
    return await watched;
  } finally {
    process.off("SIGINT", cancel).off("SIGTERM", cancel);
    signal?.removeEventListener("abort", end);
    clearTimeout(force);
    if (child.pid !== undefined) await endProviders(child.pid);
    await rm(recordOf(instance), { force: true });
  }
}
