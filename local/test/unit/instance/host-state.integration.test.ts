import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type Host, prepareHost, restoreHost } from "../../../instance/host-state.ts";
import { scratch } from "../../support/scratch.ts";

/** The kernel's side of cgroup.subtree_control: `-name` takes one away, and is refused while a cgroup below passes it on. */
async function writeCgroup(path: string, text: string): Promise<void> {
  const now = (await readFile(path, "utf8")).split(/\s+/).filter(Boolean);
  const folder = dirname(path);
  const below = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  for (const { name } of below) {
    const used = await readFile(join(folder, name, "cgroup.subtree_control"), "utf8");
    if (used.split(/\s+/).includes(text.slice(1))) throw Object.assign(new Error("busy"), { code: "EBUSY" });
  }
  if (stuck === text.slice(1)) throw Object.assign(new Error("busy"), { code: "EBUSY" });
  await writeFile(path, `${now.filter((name) => name !== text.slice(1)).join(" ")}\n`);
}
let stuck: string | undefined;

let root: string;
let commands: string[];
beforeEach(async () => {
  commands = ["bash"];
  stuck = undefined;
  root = scratch("fleet-host-");
  await write({
    "net/ipv4/ip_forward": "0\n",
    "net/ipv4/conf/all/accept_redirects": "0\n",
    "net/ipv4/conf/eth0/forwarding": "1\n",
    "fs/inotify/max_user_instances": "128\n",
    "vm/overcommit_memory": "0\n",
    "kernel/panic": "0\n",
  });
  await cgroup("", "");
  await writeFile(join(root, "sys/fs/cgroup/cgroup.controllers"), "cpu io memory pids\n");
});

const host = (): Host => ({ root, note: join(root, "host.json"), commands: () => commands, writeCgroup });
/** Makes a cgroup that passes on these controllers. */
async function cgroup(name: string, controllers: string): Promise<void> {
  const folder = join(root, "sys/fs/cgroup", name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "cgroup.subtree_control"), controllers);
}
const controllers = async () => (await readFile(join(root, "sys/fs/cgroup/cgroup.subtree_control"), "utf8")).trim();
const file = (name: string) => join(root, "proc", "sys", name);
const read = async (name: string) => (await readFile(file(name), "utf8")).trim();
async function write(settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    await mkdir(dirname(file(name)), { recursive: true });
    await writeFile(file(name), value);
  }
}

test("settings that an instance, its kubelets and the kernel change are put back when no instance is left", async () => {
  await prepareHost(host());
  expect([await read("net/ipv4/ip_forward"), await read("fs/inotify/max_user_instances")]).toEqual(["1", "8192"]);
  await write({ "vm/overcommit_memory": "1\n", "kernel/panic": "10\n", "net/ipv4/conf/all/accept_redirects": "1\n" });
  await write({ "net/ipv4/conf/eth0/forwarding": "0\n" });
  // A second instance: what the first one set is not the machine's own.
  await prepareHost(host());
  await restoreHost(host());
  const after = Object.fromEntries(
    await Promise.all(
      ["net/ipv4/ip_forward", "net/ipv4/conf/all/accept_redirects", "net/ipv4/conf/eth0/forwarding"]
        .concat("fs/inotify/max_user_instances", "vm/overcommit_memory", "kernel/panic")
        .map(async (name) => [name, await read(name)]),
    ),
  );
  expect(after).toEqual({
    "net/ipv4/ip_forward": "0",
    "net/ipv4/conf/all/accept_redirects": "0",
    "net/ipv4/conf/eth0/forwarding": "1",
    "fs/inotify/max_user_instances": "128",
    "vm/overcommit_memory": "0",
    "kernel/panic": "0",
  });
  expect(existsSync(host().note)).toBe(false);
});

test("what somebody else set meanwhile stays, and what is high enough is not touched", async () => {
  await write({ "fs/inotify/max_user_instances": "10000\n" });
  await prepareHost(host());
  expect(await read("fs/inotify/max_user_instances")).toBe("10000");
  await write({ "vm/overcommit_memory": "2\n" });
  await restoreHost(host());
  expect(await read("vm/overcommit_memory")).toBe("2");
});

test("folders that shims, libcni and kubelets made go; those that were there, or that others use, stay", async () => {
  await mkdir(join(root, "var/lib/cni/results"), { recursive: true });
  await prepareHost(host());
  for (const folder of ["run/containerd/s", "var/lib/kubelet/device-plugins", "var/log/containers"])
    await mkdir(join(root, folder), { recursive: true });
  commands.push("containerd-shim");
  await writeFile(join(root, "var/lib/kubelet/device-plugins/kubelet.sock"), "");
  await writeFile(join(root, "var/log/containers/theirs.log"), "");
  await restoreHost(host());
  for (const gone of ["run/containerd", "var/lib/kubelet"]) expect(existsSync(join(root, gone)), gone).toBe(false);
  for (const kept of ["var/lib/cni/results", "var/log/containers/theirs.log"])
    expect(existsSync(join(root, kept)), kept).toBe(true);
});

test("what can't be put back is told, and noted for another attempt", async () => {
  // Root may write to any file, but not to one of the kernel's that is only to be read.
  await writeFile(
    host().note,
    JSON.stringify({ settings: { "kernel/osrelease": "1\n" }, absent: [], controllers: [] }),
  );
  await symlink("/proc/sys/kernel/osrelease", file("kernel/osrelease"));
  await expect(restoreHost(host())).rejects.toThrow(
    /^not put back on this machine: sysctl kernel\.osrelease is .*, it was 1 \(.*\): set it by hand, then/,
  );
  expect(existsSync(host().note)).toBe(true);
});

test("what is left in folders that were not there is told when nobody else's containers can have made it", async () => {
  await prepareHost(host());
  await mkdir(join(root, "var/lib/cni/results"), { recursive: true });
  await writeFile(join(root, "var/lib/cni/results/abc"), "");
  await mkdir(join(root, "run/netns"), { recursive: true });
  for (const name of ["fleet-0-hub-0", "theirs"]) await writeFile(join(root, "run/netns", name), "");
  await expect(restoreHost(host())).rejects.toThrow(
    /^not put back on this machine: \/run\/netns has fleet-0-hub-0, it was not there; \/var\/lib\/cni\/results has abc, it was not there: /,
  );
  await rm(join(root, "run/netns/fleet-0-hub-0"));
  await rm(join(root, "var/lib/cni/results/abc"));
  await restoreHost(host());
  expect(existsSync(join(root, "var/lib/cni"))).toBe(false);
  expect(existsSync(join(root, "run/netns/theirs"))).toBe(true);
  expect(existsSync(host().note)).toBe(false);
});

test("the loopback links of somebody else's containers stay noted while these run", async () => {
  await prepareHost(host());
  const results = join(root, "var/lib/cni/results");
  await mkdir(results, { recursive: true });
  const loopback = `cni-loopback-${"a".repeat(64)}-lo`;
  for (const name of ["fleet-0-hub-0-abc-eth0", loopback]) await writeFile(join(results, name), "");
  commands.push("containerd");
  await restoreHost(host());
  expect(await readdir(results)).toEqual([loopback]);
});

test("a setting that changes when another is put back is looked at again", async () => {
  await write({ "net/ipv4/conf/all/accept_redirects": "1\n" });
  await prepareHost(host());
  // The same file under two names, as a kernel that changes one with the other.
  await rm(file("net/ipv4/conf/all/accept_redirects"));
  await symlink(file("net/ipv4/ip_forward"), file("net/ipv4/conf/all/accept_redirects"));
  await expect(restoreHost(host())).rejects.toThrow(/sysctl net\.ipv4\.(ip_forward|conf\.all\.accept_redirects) is/);
});

test("the root cgroup passes on what it did before, and what a cgroup of somebody else passes on", async () => {
  await cgroup("", "pids\n");
  await prepareHost(host());
  await cgroup("", "cpu memory io pids\n");
  await cgroup("system.slice", "memory\n");
  await restoreHost(host());
  expect(await controllers()).toBe("memory pids");
});

test("the root cgroup of a machine that passes on nothing is left alone", async () => {
  await prepareHost(host());
  expect(JSON.parse(await readFile(host().note, "utf8")).controllers).toEqual([]);
  await restoreHost(host());
  expect(await controllers()).toBe("");
});

test("a controller that the kernel does not let go, though nobody passes it on, is told", async () => {
  await prepareHost(host());
  await cgroup("", "cpu io\n");
  stuck = "io";
  await expect(restoreHost(host())).rejects.toThrow(
    "not put back on this machine: the root cgroup passes on io, it did not (cgroup.subtree_control)",
  );
  expect(await controllers()).toBe("io");
});

test("what nodes left that were not removed in order goes, what is in use stays", async () => {
  await prepareHost(host());
  for (const folder of ["run/containerd/s", "var/lib/cni/results", "var/log/containers"])
    await mkdir(join(root, folder), { recursive: true });
  const sockets = join(root, "run/containerd/s");
  const listening = createServer().listen(join(sockets, "alive"));
  await once(listening, "listening");
  // The file of a socket stays when its process is killed.
  const script = `require("net").createServer().listen(${JSON.stringify(join(sockets, "dead"))}, () => process.kill(process.pid, 9))`;
  await once(spawn(process.execPath, ["-e", script]), "exit");
  expect((await readdir(sockets)).sort()).toEqual(["alive", "dead"]);
  for (const name of ["fleet-0-hub-0-abc-eth0", `cni-loopback-${"a".repeat(64)}-lo`])
    await writeFile(join(root, "var/lib/cni/results", name), "");
  await symlink(join(root, "gone"), join(root, "var/log/containers", "pod.log"));
  await expect(restoreHost(host())).rejects.toThrow("/run/containerd/s has alive, it was not there");
  expect(await readdir(sockets)).toEqual(["alive"]);
  for (const gone of ["var/lib/cni", "var/log/containers"]) expect(existsSync(join(root, gone)), gone).toBe(false);
  listening.close();
  await once(listening, "close");
  await restoreHost(host());
  expect(existsSync(join(root, "run/containerd"))).toBe(false);
});
