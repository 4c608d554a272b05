import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prepareHost, restoreHost } from "../../../local/instance/host-state.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fleet-host-"));
  await write({
    "net/ipv4/ip_forward": "0\n",
    "net/ipv4/conf/all/accept_redirects": "0\n",
    "net/ipv4/conf/eth0/forwarding": "1\n",
    "fs/inotify/max_user_instances": "128\n",
    "vm/overcommit_memory": "0\n",
    "kernel/panic": "0\n",
  });
});
afterEach(() => rm(root, { recursive: true }));

const host = () => ({ root, note: join(root, "host.json") });
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
    /^not put back on this machine: sysctl kernel\.osrelease is .*, it was 1 .*: set it by hand$/,
  );
  expect(existsSync(host().note)).toBe(true);
});
