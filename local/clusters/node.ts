import { mkdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ClusterAddresses, clusterAt, type Instance, type NodeAddresses, nodeAt } from "../instance/addresses.ts";
import { run } from "../instance/command.ts";
import { readFolder, readText, writeAtomic } from "../instance/files.ts";
import { withLock } from "../instance/lock.ts";
import { ensureInMemory } from "../instance/mounts.ts";
import { type ProcessSpec, supervisorOf } from "../supervisor/client.ts";
import { logOf } from "../supervisor/logs.ts";
import { preparedAddons } from "./addons.ts";
import { processId } from "./control-plane.ts";
import { ensureNodeStore, importMissing } from "./image-store.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import * as config from "./node-config.ts";
import { ensureNetwork } from "./node-network.ts";
import { deleteNode, untilNodeReady } from "./node-object.ts";
import { removeNode } from "./node-removal.ts";
import { findCluster, loadOptions } from "./options.ts";
import { clusterAuthority } from "./pki.ts";
import { toolchain } from "./toolchain.ts";

const LOCK_SECONDS = 300;
const READY_SECONDS = 120;
/** What the volumes of a node's pods may take of the machine's memory, in MiB: far more than Flux's artifacts and clones need. */
const VOLUMES_MIB = 4096;
/** The EKS Pod Identity Agent, which EKS runs as a pod of each node. */
export const AGENT_PROGRAM = "pod-identity-agent";
/** The processes that a node may have. */
const PROGRAMS = [AGENT_PROGRAM, "network-policy", "kubelet", "kube-proxy", "containerd"];

/**
 * Starts a node of a cluster whose control plane runs: network namespace, containerd with the toolchain's images,
 * kubelet and kube-proxy. Resolves when the Node is Ready. Idempotent. The instance's CA must exist.
 */
export async function startNode(
  instance: Instance,
  clusterName: string,
  options: config.NodeOptions,
  readySeconds = READY_SECONDS,
): Promise<void> {
  const cluster = await findCluster(instance, clusterName);
  const node = nodeAt(instance, cluster, options.number);
  await withLock(
    lockOf(instance, node),
    async () => {
      await start(instance, cluster, node, options);
      const log = logOf(instance, nodeProcess(cluster, node, "kubelet"));
      await untilNodeReady(cluster, options.nodeName, readySeconds, log);
    },
    LOCK_SECONDS,
  );
}

/**
 * Removes a node with all its containers, and its Node object (as EKS does when an instance is terminated). It doesn't
 * drain: evict the pods first where that matters. Idempotent, and finishes what a kill has interrupted.
 */
export async function stopNode(instance: Instance, clusterName: string, number: number): Promise<void> {
  const options = await loadOptions(instance, clusterName);
  // Without its folder the cluster is gone, and its nodes went before.
  if (options === undefined) return;
  const cluster = clusterAt(instance, clusterName, options.number);
  const node = nodeAt(instance, cluster, number);
  await withLock(
    lockOf(instance, node),
    async () => {
      const supervisor = supervisorOf(instance);
      await Promise.all(PROGRAMS.map((program) => supervisor.stop(nodeProcess(cluster, node, program))));
      const nodeName = await readText(nameFile(node));
      if (nodeName !== undefined) await deleteNode(instance, cluster, nodeName);
      await removeNode(node);
    },
    LOCK_SECONDS,
  );
}

async function start(
  instance: Instance,
  cluster: ClusterAddresses,
  node: NodeAddresses,
  options: config.NodeOptions,
): Promise<void> {
  const tools = await toolchain();
  const files = config.nodeFiles(node);
  const supervisor = supervisorOf(instance);
  await writeFiles(instance, cluster, node, options);
  await ensureNodeStore(instance, tools, files.containerdRoot, files.importedImages);
  await ensureNetwork(cluster, node);
  await ensureInMemory(join(files.kubeletRoot, "pods"), VOLUMES_MIB);
  const place = { netns: node.namespace, cgroup: `${node.cgroup}/system` };
  const process = (
    program: string,
    args: readonly string[],
    ready: NonNullable<ProcessSpec["ready"]>,
  ): ProcessSpec => ({
    id: nodeProcess(cluster, node, program),
    argv: [tools.bin(program), ...args],
    // What they call: the shim, runc, nft, and iptables of the CNI plugins.
    env: { PATH: config.programPath(tools.system) },
    ...place,
    ready,
  });
  await supervisor.start(
    process("containerd", ["--config", files.containerdConfig, "--log-level", "warn"], {
      // It serves before its CRI plugin is initialized, which takes longer the more pods it finds; kubelet would give up.
      grpc: { unix: files.containerdSocket, method: "/runtime.v1.RuntimeService/Version" },
    }),
  );
  await importImages(instance, node);
  await Promise.all([
    supervisor.start(process("kubelet", kubeletArgs(node, options), { tcp: { host: node.address, port: 10250 } })),
    supervisor.start(
      process("kube-proxy", [`--config=${files.proxyConfig}`, "--v=1"], {
        http: { url: `http://${node.address}:10256/livez` },
      }),
    ),
  ]);
}

/** Imports what a node lacks of the toolchain's images and of those of the instance's add-ons; returns whether it lacked any. */
async function importImages(instance: Instance, node: NodeAddresses): Promise<boolean> {
  const [tools, addons] = [await toolchain(), await preparedAddons(instance)];
  const files = config.nodeFiles(node);
  const images = [...tools.images(), ...(addons?.images ?? [])];
  return importMissing(tools, images, files.containerdSocket, files.importedImages);
}

/** Gives the nodes that run the images of the add-ons that were prepared since they started. @returns the nodes that lacked some, by cluster */
export async function refreshNodes(instance: Instance): Promise<string[]> {
  const running = await supervisorOf(instance).list();
  const refreshed: string[] = [];
  for (const name of (await readFolder(instance.paths.clusters)) ?? []) {
    const options = await loadOptions(instance, name);
    if (options === undefined) continue;
    const cluster = clusterAt(instance, name, options.number);
    for (const number of (await readFolder(join(cluster.dir, "nodes"))) ?? []) {
      const node = nodeAt(instance, cluster, Number(number));
      const containerd = nodeProcess(cluster, node, "containerd");
      const refresh = async () => {
        if (!running.some(({ id, state }) => id === containerd && state === "ready")) return;
        if (await importImages(instance, node)) refreshed.push(`${name}/${number}`);
      };
      await withLock(lockOf(instance, node), refresh, LOCK_SECONDS);
    }
  }
  return refreshed;
}

function kubeletArgs(node: NodeAddresses, options: config.NodeOptions): string[] {
  const files = config.nodeFiles(node);
  const labels = Object.entries(config.nodeLabels(options)).map(([key, value]) => `${key}=${value}`);
  return [
    `--config=${files.kubeletConfig}`,
    `--kubeconfig=${files.kubeletKubeconfig}`,
    `--root-dir=${files.kubeletRoot}`,
    `--cert-dir=${join(files.kubeletRoot, "pki")}`,
    `--hostname-override=${options.nodeName}`,
    `--node-ip=${node.address}`,
    `--node-labels=${labels.join(",")}`,
    "--v=1",
  ];
}

async function writeFiles(
  instance: Instance,
  cluster: ClusterAddresses,
  node: NodeAddresses,
  options: config.NodeOptions,
): Promise<void> {
  const tools = await toolchain();
  const files = config.nodeFiles(node);
  const pause = tools.images().find(({ name }) => name === "pause");
  if (pause === undefined) throw new Error("the toolchain has no image named pause: build it again");
  if ((await readText(instance.paths.caCertificate)) === undefined)
    throw new Error(`${instance.paths.caCertificate} is missing: make the instance's CA before its first node`);
  for (const folder of [files.cni, dirname(files.registryHosts), dirname(files.functionHosts), node.run])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await linkDisk(node);
  await writeAtomic(nameFile(node), options.nodeName);
  const authority = await clusterAuthority(cluster);
  const kubelet = await authority.issue(`kubelet-${options.nodeName}`, {
    commonName: `system:node:${options.nodeName}`,
    organizations: ["system:nodes"],
    addresses: [options.nodeName, node.address],
  });
  const proxy = await authority.issue("kube-proxy", { commonName: "system:kube-proxy" });
  await writeKubeconfig(files.kubeletKubeconfig, cluster.endpoint, authority, kubelet);
  await writeKubeconfig(files.proxyKubeconfig, cluster.endpoint, authority, proxy);
  const runtimeSpec = await run([tools.bin("ctr"), "oci", "spec"]);
  await writeAtomic(files.baseRuntimeSpec, config.baseRuntimeSpec(runtimeSpec, instance));
  await writeAtomic(files.containerdConfig, config.containerdConfig(node, tools.cni, pause.reference));
  await writeAtomic(files.registryHosts, config.registryHosts(instance));
  await writeAtomic(files.functionHosts, config.registryHosts(instance, config.FUNCTION_HOST));
  await writeAtomic(join(files.cni, "10-pods.conflist"), JSON.stringify(config.cniConfig(node)));
  const kubeletConfig = config.kubeletConfig(cluster, node, options, kubelet, authority.files.certificate);
  await writeAtomic(files.kubeletConfig, JSON.stringify(kubeletConfig));
  await writeAtomic(files.proxyConfig, JSON.stringify(config.proxyConfig(cluster, node, options.nodeName)));
}

/** Leads to a node's directory by a short path; also after the clone was moved. */
async function linkDisk({ dir, disk }: NodeAddresses): Promise<void> {
  const target = await readlink(disk).catch(() => undefined);
  if (target === dir) return;
  await rm(disk, { force: true });
  await symlink(dir, disk);
}

/** Identity of a node's process. */
export function nodeProcess(cluster: ClusterAddresses, node: NodeAddresses, program: string): string {
  return processId(cluster.name, `${node.number}.${program}`);
}

/** Holds the name of the Node object, for those that know only the number. */
export function nameFile(node: NodeAddresses): string {
  return join(node.dir, "name");
}

/** Name of the lock under which a node is changed. */
export function lockOf(instance: Instance, node: NodeAddresses): string {
  return `${instance.index}/node/${node.namespace}`;
}
