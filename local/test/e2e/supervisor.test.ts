import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processGuard } from "../../cli/process-guard.ts";
import type { Instance } from "../../instance/addresses.ts";
import { openInstance, releaseInstance } from "../../instance/instance.ts";
import { leftovers } from "../../instance/leftovers.ts";
import { processesOf, statOf } from "../../instance/processes.ts";
import { type ProcessStatus, supervisorOf } from "../../supervisor/client.ts";

// Real processes under a real supervisor.
describe("supervisor", () => {
  let instance: Instance;

  beforeAll(async () => {
    instance = await openInstance(await mkdtemp(join(tmpdir(), "fleet-supervisor-")));
  });

  afterAll(async () => {
    await supervisorOf(instance).shutdown();
    await releaseInstance(instance);
    await rm(instance.dir, { recursive: true });
  });

  const supervisor = () => supervisorOf(instance);
  const events = () => readFile(instance.paths.events, "utf8");
  const statusOf = async (id: string) => (await supervisor().list()).find((status) => status.id === id);

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      if (await holds()) return;
      await sleep(50);
    }
    throw new Error(`did not come true: ${what}`);
  }

  const restarted = (before: ProcessStatus) => async () => {
    const now = await statusOf(before.id);
    return now?.state === "ready" && now.pid !== before.pid;
  };

  test("a started process is ready, logs to its file and is found by its mark", async () => {
    const socket = join(instance.paths.run, "server.sock");
    const program = `console.log("hello"); fs.rmSync(${JSON.stringify(socket)}, {force: true}); net.createServer().listen(${JSON.stringify(socket)})`;
    const spec = { id: "server", argv: [process.execPath, "-e", program], ready: { unix: socket } } as const;
    const first = await supervisor().start(spec);
    expect(first.state).toBe("ready");
    expect(await readFile(first.log, "utf8")).toBe("hello\n");
    expect(processesOf(instance).map((p) => p.pid)).toContain(first.pid);
    expect((await supervisor().start(spec)).pid, "a second start changes nothing").toBe(first.pid);
    const changed = await supervisor().start({ ...spec, env: { CHANGED: "1" } });
    expect(changed.pid, "another spec replaces the process").not.toBe(first.pid);
  });

  test("a process that exits at once fails with its exit code, its log and the log's path", async () => {
    const started = supervisor().start({
      id: "broken",
      argv: ["sh", "-c", "echo no such port; exit 7"],
      ready: { unix: join(instance.paths.run, "never.sock") },
    });
    await expect(started).rejects.toThrow(
      /broken did not start: it ended before it was ready \(exit code 7\).*broken\.log\nno such port/s,
    );
    expect((await statusOf("broken"))?.state).toBe("failed");
    await supervisor().stop("broken");
  });

  test("a process that isn't ready in time is ended and reported", async () => {
    const started = supervisor().start({
      id: "slow",
      argv: ["sleep", "1000"],
      ready: { unix: join(instance.paths.run, "never.sock") },
      readySeconds: 0.3,
    });
    await expect(started).rejects.toThrow(/slow did not start: it was not ready within 0.3 s \(.*ENOENT/);
    expect(processesOf(instance).filter((p) => p.id === "slow")).toEqual([]);
    await supervisor().stop("slow");
  });

  test("a stop ends a process that is still starting, and its start says so", async () => {
    const socket = join(instance.paths.run, "never.sock");
    const started = supervisor().start({ id: "unready", argv: ["sleep", "1000"], ready: { unix: socket } });
    const refused = expect(started).rejects.toThrow("process unready was stopped while it was starting");
    await until("it runs", async () => processesOf(instance).some((p) => p.id === "unready"));
    await supervisor().stop("unready");
    await refused;
    expect(processesOf(instance).filter((p) => p.id === "unready")).toEqual([]);
  });

  test("a killed process is started again and noted with a clear message", async () => {
    const before = await supervisor().start({ id: "killed", argv: ["sleep", "1000"] });
    process.kill(before.pid as number, "SIGKILL");
    await until("restarted", restarted(before));
    expect(await events()).toMatch(/killed ended \(signal SIGKILL\): starting it again in 0.2 s. Log: .*killed\.log/);
    expect((await statusOf("killed"))?.restarts).toBe(1);
  });

  /** What the guard of `npm start` says of the processes. */
  const guarding = (since?: Date) => processGuard(() => supervisor().list(), since, 20);
  const inTime = () => AbortSignal.timeout(20_000);

  describe("a process that keeps exiting", () => {
    const argv = ["sh", "-c", "sleep 0.05; echo no such port; exit 7"] as const;

    test("ends what waits for it, with its name, exit code, last lines and log", async () => {
      const guard = guarding()(inTime());
      const { log } = await supervisor().start({ id: "flapping", argv });
      await expect(guard).rejects.toThrow(
        `process flapping keeps exiting: 3 short runs in a row, the last: exit code 7. Log: ${log}\nno such port`,
      );
      await expect(guarding(new Date(Date.now() + 60_000))(AbortSignal.timeout(100))).resolves.toBeUndefined();
      await supervisor().stop("flapping");
    });

    test("counts its failed starts as well, until it is started with another spec", async () => {
      const spec = { id: "unstartable", argv, ready: { unix: join(instance.paths.run, "never.sock") } } as const;
      const guard = guarding();
      for (let tries = 0; tries < 3; tries++)
        await supervisor()
          .start(spec)
          .catch(() => {});
      await expect(guard(inTime())).rejects.toThrow(
        "process unstartable keeps exiting: 3 short runs in a row, the last: it ended before it was ready (exit code 7)",
      );
      await supervisor()
        .start({ ...spec, env: { CHANGED: "1" } })
        .catch(() => {});
      expect(await statusOf("unstartable")).toMatchObject({ state: "failed", shortRuns: 1 });
      await supervisor().stop("unstartable");
    });

    test("is named next to the error of a step that fails because of its first exit", async () => {
      const since = new Date();
      const failed = supervisor().start({ id: "gone", argv, ready: { unix: join(instance.paths.run, "never.sock") } });
      await expect(failed).rejects.toThrow();
      await expect(guarding(since)(AbortSignal.abort())).rejects.toThrow(/process gone is failed: .*\(exit code 7\)/);
      await supervisor().stop("gone");
    });
  });

  test("stop ends the whole process group, also what ignores TERM", async () => {
    await supervisor().start({
      id: "stubborn",
      argv: ["sh", "-c", "trap '' TERM; sleep 1000 & wait; wait"],
      stopSeconds: 0.2,
    });
    await until("child runs", async () => processesOf(instance).filter((p) => p.id === "stubborn").length === 2);
    await supervisor().stop("stubborn");
    expect(processesOf(instance).filter((p) => p.id === "stubborn")).toEqual([]);
    expect(await statusOf("stubborn")).toBeUndefined();
    await supervisor().stop("stubborn");
  });

  test("nobody else may read the record", async () => {
    await supervisor().start({ id: "recorded-for-us", argv: ["sleep", "1000"] });
    expect((await stat(instance.paths.record)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["supervisor", (p: { command: string }) => p.command !== "sh"],
    ["supervisor's guard", (p: { command: string }) => p.command === "sh"],
    ["supervisor and its guard", () => true],
  ])("after kill -9 of the %s, its processes live on under a new one", async (_what, chosen) => {
    const before = await supervisor().start({ id: "survivor", argv: ["sleep", "1000"] });
    const own = processesOf(instance).filter((p) => p.id === "supervisor");
    expect(own.length).toBe(2);
    const victims = own.filter(chosen);
    for (const { pid } of victims) process.kill(pid, "SIGKILL");
    for (const { pid } of victims) await until("dead", async () => statOf(pid) === undefined);
    expect((await supervisor().start({ id: "survivor", argv: ["sleep", "1000"] })).pid).toBe(before.pid);
    await until("a pair again", async () => {
      const now = processesOf(instance).filter((p) => p.id === "supervisor");
      return now.length === 2 && now.every(({ pid }) => !victims.some((victim) => victim.pid === pid));
    });
    process.kill(before.pid as number, "SIGKILL");
    await until("an adopted process is restarted too", restarted(before));
  });

  test("a process that ended while no supervisor was there is started again by the next one", async () => {
    const before = await supervisor().start({ id: "orphan", argv: ["sleep", "1000"] });
    const own = processesOf(instance).filter((p) => p.id === "supervisor");
    for (const { pid } of own) process.kill(pid, "SIGKILL");
    process.kill(before.pid as number, "SIGKILL");
    await until("all dead", async () => statOf(before.pid as number) === undefined);
    await supervisor().start({ id: "other", argv: ["sleep", "1000"] });
    await until("restarted", restarted(before));
  });

  test("only processes that are its own are ever ended: a stranger with a recorded id is left alone", async () => {
    const before = await supervisor().start({ id: "recorded", argv: ["sleep", "1000"] });
    for (const { pid } of processesOf(instance).filter((p) => p.id === "supervisor")) process.kill(pid, "SIGKILL");
    process.kill(before.pid as number, "SIGKILL");
    await until("dead", async () => statOf(before.pid as number) === undefined);
    // This test's own process takes the place of the recorded one, with another start time.
    const record = (await readFile(instance.paths.record, "utf8")).replaceAll(
      `"pid": ${before.pid},`,
      `"pid": ${process.pid},`,
    );
    await writeFile(instance.paths.record, record);
    await supervisor().stop("recorded");
    expect(await statusOf("recorded")).toBeUndefined();
  });

  test("shutdown ends every process and the supervisor itself, and can be repeated", async () => {
    await supervisor().start({ id: "last", argv: ["sleep", "1000"] });
    await supervisor().shutdown();
    expect(processesOf(instance)).toEqual([]);
    expect(await supervisor().list()).toEqual([]);
    await supervisor().shutdown();
    expect((await leftovers(instance)).map(({ kind }) => kind).sort()).toEqual(["address", "nft table"]);
  });
});
