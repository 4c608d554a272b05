import { createHash } from "node:crypto";
import { readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NodeAddresses } from "../instance/addresses.ts";
import { removeCgroup } from "../instance/cgroups.ts";
import { orMissing, readFolder } from "../instance/files.ts";
import { unmountUnder } from "../instance/mounts.ts";
import { nodeFiles } from "./node-config.ts";
import { removeNetwork } from "./node-network.ts";

/** Fixed places outside a node's folders, where shims, libcni and kubelet keep files whatever their configuration is. */
const SHIM_SOCKETS = "/run/containerd/s";
const CNI_RESULTS = "/var/lib/cni/results";
const CONTAINER_LOGS = "/var/log/containers";

/**
 * Removes all that a node is made of, once its supervised processes are stopped: containers, mounts, cgroups, network,
 * files. It asks nobody, so it works the same when containerd was killed. Idempotent.
 */
export async function removeNode(node: NodeAddresses): Promise<void> {
  await removeCgroup(node.cgroup);
  for (const folder of [node.dir, node.run]) await unmountUnder(folder);
  await removeNetwork(node);
  await removeStrayFiles(node);
  await rm(node.run, { recursive: true, force: true });
  await rm(node.dir, { recursive: true, force: true });
}

/** What killed shims and libcni leave in folders of their own choice, named after a pod's sandbox. */
export function strayFiles(node: NodeAddresses, sandbox: string): string[] {
  // The name that containerd's shim manager gives to its socket (SocketAddress in runtime/v2/shim).
  const shim = createHash("sha256")
    .update(join(nodeFiles(node).containerdSocket, "k8s.io", sandbox))
    .digest("hex");
  return [
    join(SHIM_SOCKETS, shim),
    join(CNI_RESULTS, `${node.namespace}-${sandbox}-eth0`),
    join(CNI_RESULTS, `cni-loopback-${sandbox}-lo`),
  ];
}

async function removeStrayFiles(node: NodeAddresses): Promise<void> {
  const sandboxes =
    (await readFolder(join(nodeFiles(node).containerdRoot, "io.containerd.grpc.v1.cri", "sandboxes"))) ?? [];
  for (const file of sandboxes.flatMap((sandbox) => strayFiles(node, sandbox))) await rm(file, { force: true });
  for (const name of (await readFolder(CONTAINER_LOGS)) ?? []) {
    const path = join(CONTAINER_LOGS, name);
    // Another node's link may vanish meanwhile.
    const target = await orMissing(readlink(path), "");
    if (target.startsWith(`${node.run}/`)) await rm(path, { force: true });
  }
}
