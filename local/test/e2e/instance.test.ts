import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Instance, PROCESS_MARK, RUN_ROOT } from "../../instance/addresses.ts";
import { run } from "../../instance/command.ts";
import { findInstance, listInstances, openInstance, releaseInstance } from "../../instance/instance.ts";
import { leftovers } from "../../instance/leftovers.ts";
import { tryLock, withLock } from "../../instance/lock.ts";
import { markOf, processesOf } from "../../instance/processes.ts";

// With real addresses and packet filters.
describe("instances", () => {
  const opened: Instance[] = [];

  const folder = () => mkdtemp(join(tmpdir(), "fleet-instance-"));

  async function open(dir: string): Promise<Instance> {
    const instance = await openInstance(dir);
    opened.push(instance);
    return instance;
  }

  /** Opens an instance with a free index; other commands of this machine may have freed lower ones. */
  async function openAt(index: number): Promise<Instance> {
    const instance = await open(await folder());
    if (instance.index < index) return openAt(index);
    expect(instance.index).toBe(index);
    return instance;
  }

  afterEach(async () => {
    for (const instance of opened.splice(0)) {
      await releaseInstance(instance);
      await rm(instance.dir, { recursive: true, force: true });
    }
  });

  test("two folders get different addresses, and opening one again changes nothing", async () => {
    const [a, b] = [await open(await folder()), await open(await folder())];
    expect(a.index).not.toBe(b.index);
    expect((await openInstance(a.dir)).index).toBe(a.index);
    expect(await findInstance(b.dir)).toEqual(b);
    const dirs = (await listInstances()).map(({ dir }) => dir);
    expect(dirs).toEqual(expect.arrayContaining([a.dir, b.dir]));
  });

  test("folders opened at the same moment don't share an index", async () => {
    const dirs = await Promise.all([folder(), folder(), folder(), folder()]);
    const indexes = (await Promise.all(dirs.map(open))).map(({ index }) => index);
    expect(new Set(indexes).size).toBe(4);
  });

  test("folders with secrets are for their owner only", async () => {
    const { dir, paths } = await open(await folder());
    for (const path of [paths.pulumi, join(dir, "aws"), paths.eks, paths.clusters, paths.etcd, paths.run])
      expect((await stat(path)).mode & 0o777, path).toBe(0o700);
  });

  test("a released instance leaves nothing behind and can be released again", async () => {
    const instance = await open(await folder());
    expect((await leftovers(instance)).map(({ kind }) => kind)).toEqual(["address", "nft table"]);
    await releaseInstance(instance);
    await releaseInstance(instance);
    expect(await leftovers(instance)).toEqual([]);
    expect(await findInstance(instance.dir)).toBeUndefined();
  });

  test("the claim of a folder that has vanished is given to another one", async () => {
    const gone = await openInstance(await folder());
    await rm(gone.dir, { recursive: true });
    const next = await open(await folder());
    expect((await listInstances()).map(({ dir }) => dir)).not.toContain(gone.dir);
    expect(next.index).toBeLessThanOrEqual(gone.index);
  });

  test("the claim of a folder that has vanished does not keep the machine changed once the others are released", async () => {
    const gone = await openInstance(await folder());
    const last = await openInstance(await folder());
    await rm(gone.dir, { recursive: true });
    await releaseInstance(last);
    await rm(last.dir, { recursive: true });
    expect(existsSync(gone.paths.claim)).toBe(false);
    expect(await leftovers(gone)).toEqual([]);
    // Instances of other tests come and go meanwhile.
    await withLock("instances", async () =>
      expect(existsSync(join(RUN_ROOT, "host.json"))).toBe((await listInstances()).length > 0),
    );
  });

  test("a folder below a symbolic link is known by its real path, as its mounts are", async () => {
    const base = await folder();
    await mkdir(join(base, "real"));
    await symlink(join(base, "real"), join(base, "link"));
    const instance = await open(join(base, "link", "deep", "instance"));
    expect(instance.dir).toBe(join(base, "real", "deep", "instance"));
    expect(await findInstance(join(base, "link", "deep", "instance"))).toEqual(instance);
    const mounted = join(instance.paths.clusters, "mounted");
    await mkdir(mounted);
    await run(["mount", "-t", "tmpfs", "tmpfs", mounted]);
    try {
      expect(await leftovers(instance)).toContainEqual({ kind: "mount", name: mounted });
    } finally {
      await run(["umount", mounted]);
    }
  });

  test("a folder that was removed while its instance ran begins anew, with nothing of the old one", async () => {
    const before = await openInstance(await folder());
    const stray = spawn("sleep", ["1000"], { env: { ...process.env, [PROCESS_MARK]: markOf(before, "stray") } });
    await once(stray, "spawn");
    await rm(before.dir, { recursive: true });
    const after = await open(before.dir);
    expect(after.index).toBe(before.index);
    expect(processesOf(after)).toEqual([]);
  });

  test("links to logs that a reboot left keep no index taken, and the next instance of theirs removes them", async () => {
    const first = await openInstance(await folder());
    await releaseInstance(first);
    const link = join("/var/log/containers", `${first.index}_of_no_pod.log`);
    const made = await mkdir(dirname(link), { recursive: true });
    await symlink(join(first.paths.run, "c0n0", "disk", "pod-logs", "0.log"), link);
    const second = await openAt(first.index);
    await releaseInstance(second);
    await expect(lstat(link)).rejects.toThrow("ENOENT");
    if (made !== undefined) await rm(made, { recursive: true });
  });

  test("a folder whose state knows an index refuses another one, and says who holds its own", async () => {
    const first = await openInstance(await folder());
    await writeFile(join(first.paths.pulumi, "state"), "full of addresses");
    await releaseInstance(first);
    const second = await openAt(first.index);
    await expect(openInstance(first.dir)).rejects.toThrow(
      `the instance in ${first.dir} needs index ${first.index}, which ${second.dir} has taken: stop that one first`,
    );
    await rm(join(first.paths.pulumi, "state"));
    const third = await open(first.dir);
    expect(third.index, "without such state it takes a free one").not.toBe(second.index);
    expect(JSON.parse(await readFile(join(first.dir, "instance.json"), "utf8"))).toEqual({ index: third.index });
  });

  test("a lock is held by one at a time, and freed after an error", async () => {
    const lock = await tryLock("test-lock");
    expect(await tryLock("test-lock")).toBeUndefined();
    await expect(withLock("test-lock", async () => 1, 0.1)).rejects.toThrow('has held the lock "test-lock" for 0.1 s');
    await lock?.release();
    await expect(withLock("test-lock", () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    expect(await withLock("test-lock", async () => 2)).toBe(2);
  });

  test("locks with long names that differ only at the end are two locks", async () => {
    const name = "n".repeat(200);
    const held = await Promise.all(["0", "1", "0"].map((end) => tryLock(`${name}${end}`)));
    expect(held.filter((lock) => lock !== undefined)).toHaveLength(2);
    await Promise.all(held.map((lock) => lock?.release()));
  });
});
