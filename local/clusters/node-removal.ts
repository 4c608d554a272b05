import { lstat, readdir, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NodeAddresses } from "../instance/addresses.ts";
import { removeCgroup } from "../instance/cgroups.ts";
import { isMissing, readText } from "../instance/files.ts";
import { unmountUnder } from "../instance/mounts.ts";
import { removeNetwork } from "./node-network.ts";

/** Fixed places outside a node's folders, where libcni and kubelet keep files whatever their configuration is. */
const CNI_RESULTS = "/var/lib/cni/results";
const CONTAINER_LOGS = "/var/log/containers";

/**
 * Removes all that a node is made of, once its supervised processes are stopped: containers, mounts, cgroups, network,
 * files. It asks nobody, so it works the same when containerd was killed. Idempotent.
 */
export async function removeNode(node: NodeAddresses): Promise<void> {
  await removeCgroup(node.cgroup);
  await removeShimSockets(node);
  for (const folder of [node.dir, node.run]) await unmountUnder(folder);
  await removeNetwork(node);
  await removeStrayFiles(node);
  await rm(node.run, { recursive: true, force: true });
  await rm(node.dir, { recursive: true, force: true });
}

/** A killed shim leaves its socket under /run/containerd/s; its task's folder says which it was. */
async function removeShimSockets(node: NodeAddresses): Promise<void> {
  const tasks = join(node.run, "containerd", "io.containerd.runtime.v2.task", "k8s.io");
  for (const task of await list(tasks)) {
    const socket = (await readText(join(tasks, task, "address")))?.replace(/^unix:\/\//, "");
    if (socket?.startsWith("/run/containerd/s/")) await rm(socket, { force: true });
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
