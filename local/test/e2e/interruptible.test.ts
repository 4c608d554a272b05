import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type Instance, leftovers, listInstances } from "../../instance/index.ts";
import { processesWithin } from "../../instance/processes.ts";
import { CHECKOUT } from "../../product-paths.ts";

interface Run {
  readonly child: ChildProcess & { readonly pid: number };
  readonly ended: Promise<number | null>;
  readonly output: () => string;
}

const runs: Run[] = [];

/** Starts a command of this checkout as the leader of a process group, as a shell with job control does. */
function start(file: string, ...args: string[]): Run {
  const child = spawn(process.execPath, [join(CHECKOUT, file), ...args], { cwd: CHECKOUT, detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const run = { child: Object.assign(child, { pid: child.pid as number }), ended, output: () => output };
  runs.push(run);
  return run;
}

/** Waits until a run's output matches. */
async function shown({ output, child }: Run, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(output());
    if (match !== null) return match;
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before ${pattern}:\n${output()}`);
    await sleep(50);
  }
}

/** An endless run whose instance is open. */
async function endless(): Promise<Run & { readonly tests: number; readonly instance: Instance }> {
  const run = start("local/test/support/endless-run.ts");
  const [, tests, instance] = await shown(run, /^tests (\d+) opened (.*)$/m);
  return { ...run, tests: Number(tests), instance: JSON.parse(instance ?? "") };
}

/** Neither the claim of an instance nor the processes and the folder of its run. */
async function expectRemoved({ dir }: Instance): Promise<void> {
  expect((await listInstances()).map((each) => each.dir)).not.toContain(dir);
  expect(processesWithin([dirname(dir)])).toEqual([]);
  expect(existsSync(dirname(dir))).toBe(false);
}

async function expectNothingLeft(instance: Instance): Promise<void> {
  await expectRemoved(instance);
  expect(await leftovers(instance)).toEqual([]);
}

describe("an interrupted run", () => {
  afterEach(async () => {
    for (const { child, ended } of runs.splice(0)) {
      child.kill("SIGTERM");
      await ended;
    }
  });

  it.each([
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves nothing after %s", async (signal, code) => {
    const { child, ended, instance } = await endless();
    child.kill(signal);
    expect(await ended).toBe(code);
    await expectNothingLeft(instance);
  });

  it("leaves nothing after a second Ctrl-C while it removes its instances", async () => {
    const run = await endless();
    process.kill(-run.child.pid, "SIGINT");
    await shown(run, /^Removing the temporary instance/m);
    process.kill(-run.child.pid, "SIGINT");
    expect(await run.ended).toBe(130);
    await expectNothingLeft(run.instance);
  });

  it("leaves nothing after its tests were killed", async () => {
    const { tests, ended, instance } = await endless();
    process.kill(tests, "SIGKILL");
    expect(await ended).toBe(130);
    await expectNothingLeft(instance);
  });

  it("is removed by the next run after it was killed itself", async () => {
    const killed = await endless();
    killed.child.kill("SIGKILL");
    await killed.ended;
    const next = await endless();
    expect(next.output()).toContain(`Removing ${dirname(killed.instance.dir)} of an earlier run`);
    await expectRemoved(killed.instance);
    next.child.kill("SIGTERM");
    await next.ended;
    await expectNothingLeft(next.instance);
  });

  it.each([
    ["npm test", ["local/cli/test.ts", "--project", "e2e", "test/e2e/preview.test.ts"]],
    ["npm run preview", ["local/cli/preview.ts", "prod"]],
  ] as const)("of %s leaves nothing of the instance that it was starting", async (_command, [file, ...args]) => {
    const run = start(file, ...args);
    const [, dir = ""] = await shown(run, /instance \d+ in (\S+), gateway address/);
    await shown(run, /start the AWS API: done/);
    const instance = (await listInstances()).find((each) => each.dir === dir) ?? expect.fail(`${dir} is not open`);
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    await expectNothingLeft(instance);
  });
});
