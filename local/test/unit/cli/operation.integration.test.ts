import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { awaitOperation, cancelOperation, isLockStale, operationLog, runOperation } from "../../../cli/operation.ts";
import { instanceAt } from "../../../instance/index.ts";
import { statOf } from "../../../instance/processes.ts";
import { scratch } from "../../support/scratch.ts";

const base = scratch("fleet-operation-");
const instance = instanceAt(base, 0);
const module = join(import.meta.dirname, "..", "..", "..", "cli", "operation.ts");
const script = (text: string) => ({
  title: "pulumi up",
  argv: ["sh", "-c", text] as [string, ...string[]],
  env: process.env,
  cwd: base,
});

beforeAll(() => {
  mkdirSync(instance.paths.pulumi);
  mkdirSync(instance.paths.logs);
});

test("an operation's lines are shown and logged, and its exit code is given", async () => {
  const lines: string[] = [];
  expect(await runOperation(instance, script("echo one; echo two >&2; exit 3"), (line) => lines.push(line))).toBe(3);
  expect(lines).toEqual(["one", "two"]);
  expect(readFileSync(operationLog(instance), "utf8")).toBe("one\ntwo\n");
});

test("a program that can't be started is an error, not a hang", async () => {
  const spec = { ...script(""), argv: ["/no/such/program"] as [string] };
  await expect(runOperation(instance, spec, () => {})).rejects.toThrow(/ENOENT/);
});

/** Another process runs the operation and gets a signal while it goes on. */
async function interrupted(text: string, signal: NodeJS.Signals = "SIGKILL") {
  const program = `import { runOperation } from ${JSON.stringify(module)};
    import { instanceAt } from ${JSON.stringify(join(module, "..", "..", "instance", "index.ts"))};
    await runOperation(instanceAt(${JSON.stringify(base)}, 0), ${JSON.stringify({ ...script(text), env: { PATH: process.env["PATH"] } })}, console.log);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((started) => child.stdout.once("data", started));
  child.kill(signal);
  await new Promise((ended) => child.once("exit", ended));
}

test("an operation goes on when its command is killed, and the next command waits for its end", async () => {
  const done = join(base, "done");
  await interrupted(`echo working; sleep 1; echo finished; touch ${done}`);
  expect(existsSync(done)).toBe(false);
  const lines: string[] = [];
  await awaitOperation(instance, (line) => lines.push(line));
  expect(existsSync(done)).toBe(true);
  expect(lines[0]).toMatch(/^pulumi up of an interrupted command still runs \(process \d+\): waiting for its end$/);
  expect(lines.slice(1)).toEqual(["working", "finished"]);
});

describe("the providers of an operation that was killed", () => {
  const isRunning = () => statOf(Number(readFileSync(join(base, "provider"), "utf8"))) !== undefined;
  /** An operation with a provider in a process group of its own, as the engine gives it. */
  const withProvider = (rest: string) => {
    const [provider, started] = [join(base, "pulumi-resource-kubernetes"), join(base, "started")];
    rmSync(started, { force: true });
    writeFileSync(provider, `#!/bin/sh\ntouch ${started}\nwhile :; do sleep 0.1; done\n`, { mode: 0o755 });
    const begin = `set -m; ${provider} & echo $! > ${join(base, "provider")}; until [ -e ${started} ]; do sleep 0.05; done`;
    return `${begin}; echo working; ${rest}`;
  };

  test("end with it", async () => {
    await expect(runOperation(instance, script(withProvider("kill -KILL $$")), () => {})).rejects.toThrow("SIGKILL");
    expect(isRunning()).toBe(false);
  });

  test("end before the next one begins, where its command was killed too", async () => {
    await interrupted(withProvider("sleep 0.5; kill -KILL $$"));
    expect(isRunning()).toBe(true);
    await awaitOperation(instance, () => {});
    expect(isRunning()).toBe(false);
  });
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s to a command cancels its operation kindly and waits for its end",
  async (signal) => {
    const done = join(base, signal);
    await interrupted(`trap 'sleep 0.3; touch ${done}; exit 1' INT; echo working; while :; do sleep 0.1; done`, signal);
    expect(existsSync(done)).toBe(true);
  },
);

test("a signal cancels an operation kindly, and waits for its end", async () => {
  const done = join(base, "aborted");
  const abort = new AbortController();
  const lines: string[] = [];
  const text = `trap 'sleep 0.3; touch ${done}; exit 5' INT; echo working; while :; do sleep 0.1; done`;
  const onLine = (line: string) => {
    lines.push(line);
    abort.abort();
  };
  expect(await runOperation(instance, script(text), onLine, abort.signal)).toBe(5);
  expect(existsSync(done)).toBe(true);
  expect(lines).toEqual(["working", "cancelling pulumi up: what is in flight is finished first"]);
});

test("a signal ends the wait for an operation that an interrupted command left, which goes on", async () => {
  const done = join(base, "left");
  await interrupted(`echo working; sleep 1; touch ${done}`);
  await expect(awaitOperation(instance, () => {}, AbortSignal.timeout(100))).rejects.toThrow(/abort/i);
  await awaitOperation(instance, () => {});
  expect(existsSync(done)).toBe(true);
});

test("an operation that an interrupted command left can be cancelled", async () => {
  const done = join(base, "cancelled");
  await interrupted(`trap 'touch ${done}; exit 1' INT; echo working; while :; do sleep 0.1; done`);
  await cancelOperation(instance, () => {});
  expect(existsSync(done)).toBe(true);
});

test("a backend lock of a process that is gone is stale, without a lock there is none", async () => {
  expect(await isLockStale(instance)).toBe(false);
  const folder = join(instance.paths.pulumi, ".pulumi", "locks", "organization", "p", "local");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "a.json"), JSON.stringify({ pid: 2 ** 22 + 1 }));
  expect(await isLockStale(instance)).toBe(true);
});
