import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { V1Pod } from "@kubernetes/client-node";
import { findCluster } from "../../clusters/options.ts";
import { type Instance, type NodeAddresses, nodeAt } from "../../instance/addresses.ts";
import { run } from "../../instance/command.ts";
import { ensureToolchain } from "../../toolchain/index.ts";

/** What can be asked from inside a network namespace: the packets go the way of a pod's own. */
export interface Network {
  /** "open", or the code of the error: ECONNREFUSED where NetworkPolicies stop it. */
  connect(host: string, port: number): Promise<string>;
  /** "answered" when a UDP datagram is, or the code of the error. */
  datagram(host: string, port: number): Promise<string>;
  /** The answer to a GET whose Authorization is what a file holds. */
  get(url: string, authorizationFile: string): Promise<{ status: number; body: string }>;
  /** Answers on these ports, TCP and UDP, from when this resolves until the process is killed. Rejects when it can't. */
  listen(host: string, ...ports: readonly number[]): Promise<ChildProcess>;
}

const PROBE = join(import.meta.dirname, "probe.mjs");

/** The network namespace of this path. */
export function networkAt(path: string): Network {
  const argv = ["nsenter", `--net=${path}`, "--", process.execPath, PROBE] as const;
  return {
    connect: async (host, port) => (await run([...argv, "connect", host, String(port)])).trim(),
    datagram: async (host, port) => (await run([...argv, "datagram", host, String(port)])).trim(),
    get: async (url, file) => JSON.parse(await run([...argv, "get", url, file])) as { status: number; body: string },
    listen: async (host, ...ports) => {
      const args = [...argv.slice(1), "listen", host, ...ports.map(String)];
      const child = spawn(argv[0], args, { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit").then(([code]) => {
        throw new Error(
          `nothing listens on ${host} ${ports.join(" ")}: the probe ended with exit code ${code}, see above`,
        );
      });
      await Promise.race([once(child.stdout, "data"), ended]);
      // It is killed one day.
      ended.catch(() => {});
      return child;
    },
  };
}

/** Path of a node's network namespace. */
export const nodePath = ({ namespace }: NodeAddresses): string => `/run/netns/${namespace}`;

/** A cluster's node by its number. */
export async function nodeOf(instance: Instance, cluster: string, number: number): Promise<NodeAddresses> {
  return nodeAt(instance, await findCluster(instance, cluster), number);
}

/** The network of a running pod. Images have no shell, so its network namespace is entered from the machine. */
export async function podNetwork(instance: Instance, cluster: string, { status, metadata }: V1Pod): Promise<Network> {
  const nodes = await Promise.all([0, 1, 2, 3].map((number) => nodeOf(instance, cluster, number)));
  const node = nodes.find(({ address }) => address === status?.hostIP);
  const container = status?.containerStatuses?.[0]?.containerID?.replace("containerd://", "");
  const { bin } = await ensureToolchain();
  const socket = join(node?.run ?? "", "containerd.sock");
  const tasks = await run([bin("ctr"), "--address", socket, "--namespace", "k8s.io", "tasks", "ls"]);
  const task = tasks.split("\n").find((line) => container !== undefined && line.startsWith(container));
  const [, pid] = task?.split(/\s+/) ?? [];
  if (pid === undefined) throw new Error(`pod ${metadata?.name} has no running container:\n${tasks}`);
  return networkAt(`/proc/${pid}/ns/net`);
}
