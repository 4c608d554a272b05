import { lstat, readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeAddresses } from "../instance/addresses.ts";
import { cgroupProcesses, removeCgroup } from "../instance/cgroups.ts";
import { run } from "../instance/command.ts";
import { isMissing, readText } from "../instance/files.ts";
import { mountsUnder } from "../instance/leftovers.ts";
import { tolerate } from "../instance/network.ts";
import { removeNetwork } from "./node-network.ts";

const ATTEMPTS = 100;
/** Fixed places outside a node's folders, where libcni and kubelet keep files whatever their configuration is. */
const CNI_RESULTS = "/var/lib/cni/results";
const CONTAINER_LOGS = "/var/log/containers";

/**
 * Removes all that a node is made of, once its supervised processes are stopped: containers, mounts, cgroups, network,
 * files. It asks nobody, so it works the same when containerd was killed. Idempotent.
 */
export async function removeNode(node: NodeAddresses): Promise<void> {
  await killContainers(node);
  await removeShimSockets(node);
  await unmount(node);
  await removeNetwork(node);
  await removeCgroups(node);
  await removeStrayFiles(node);
  await rm(node.run, { recursive: true, force: true });
  await rm(node.dir, { recursive: true, force: true });
}

async function killContainers(node: NodeAddresses): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const pids = await cgroupProcesses(node.cgroup);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
    await sleep(50);
  }
  throw new Error(`processes in cgroup ${node.cgroup} don't end: ${(await cgroupProcesses(node.cgroup)).join(", ")}`);
}

/** A killed shim leaves its socket under /run/containerd/s; its task's folder says which it was. */
async function removeShimSockets(node: NodeAddresses): Promise<void> {
  const tasks = join(node.run, "containerd", "io.containerd.runtime.v2.task", "k8s.io");
  for (const task of await list(tasks)) {
    const socket = (await readText(join(tasks, task, "address")))?.replace(/^unix:\/\//, "");
    if (socket?.startsWith("/run/containerd/s/")) await rm(socket, { force: true });
  }
}

/** Deepest first. A mount that is still in use for a moment is detached, the kernel drops it with its last user. */
async function unmount(node: NodeAddresses): Promise<void> {
  const points = [...(await mountsUnder(node.dir)), ...(await mountsUnder(node.run))];
  for (const point of points.reverse()) {
    await tolerate(/not mounted|no mount point|No such file/, run(["umount", "--lazy", point]));
  }
}

/** The kernel takes a moment to forget the dead processes of a cgroup. */
async function removeCgroups(node: NodeAddresses): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await removeCgroup(node.cgroup);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || attempt >= ATTEMPTS) throw error;
      await sleep(50);
    }
  }
}

async function removeStrayFiles(node: NodeAddresses): Promise<void> {
  const sandboxes = await list(join(node.dir, "containerd", "io.containerd.grpc.v1.cri", "sandboxes"));
  for (const id of sandboxes)
    for (const name of [`${node.namespace}-${id}-eth0`, `cni-loopback-${id}-lo`])
      await rm(join(CNI_RESULTS, name), { force: true });
  for (const name of await list(CONTAINER_LOGS)) {
    const path = join(CONTAINER_LOGS, name);
    if (!(await lstat(path)).isSymbolicLink()) continue;
    if ((await readlink(path)).startsWith(`${node.dir}/`)) await rm(path, { force: true });
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
