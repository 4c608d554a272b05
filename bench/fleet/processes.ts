import { readFile } from "node:fs/promises";
import type { Kubectl } from "@eks-gitops-fleet/local/cli";
import { cgroupProcesses, type Instance } from "@eks-gitops-fleet/local/instance";
import { supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { hub } from "../cluster.ts";

/** What a process is of, for people. */
export interface Process {
  readonly pid: number;
  readonly group: string;
}

export const CLOUD = "embedded cloud: gateway, AWS, Git, registry";
const NODE = "node: kubelet, containerd, kube-proxy, CoreDNS";
const SHIMS = "node: containerd's shims and pause";

/** The controller of a pod: its name without the hashes of the ReplicaSet, the pod and a package's revision. */
export const controllerOf = (pod: string): string =>
  pod
    .replace(/-[a-z0-9]{5}$/, "")
    .replace(/-[a-z0-9]{6,10}$/, "")
    .replace(/-[0-9a-f]{12}$/, "");

/** The pod of a process by /proc/<pid>/cgroup; `names` are the pods' names by uid. */
function podOf(cgroup: string, names: ReadonlyMap<string, string>): string | undefined {
  const uid = /\/pod([0-9a-f]{8}-[0-9a-f-]{27})\//.exec(cgroup)?.[1];
  return uid === undefined ? undefined : names.get(uid);
}

/** The group of a process on the hub's node. `comm` is its name. */
export function groupOf(cgroup: string, comm: string, names: ReadonlyMap<string, string>): string {
  if (comm === "pause" || comm.startsWith("containerd-shim")) return SHIMS;
  const pod = podOf(cgroup, names);
  return pod === undefined || pod.startsWith("coredns-") ? NODE : controllerOf(pod);
}

/** Names of the hub's pods by uid. */
async function podNames(kubectl: Kubectl): Promise<Map<string, string>> {
  const line = '{.metadata.uid}{"\\t"}{.metadata.name}{"\\n"}';
  const text = await kubectl(["get", "pods", "--all-namespaces", "--output", `jsonpath={range .items[*]}${line}{end}`]);
  const rows = text.split("\n").filter((row) => row !== "");
  return new Map(rows.map((row) => row.split("\t") as [string, string]));
}

/** A process may end between being listed and being read. */
const readProc = (pid: number, file: string): Promise<string> =>
  readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");

/** The processes of the hub's node; its one node is number 0. */
export const nodeCgroup = (instance: Instance): string => `${instance.kernel.cgroup}/${hub}-0`;

async function onNode(instance: Instance, kubectl: Kubectl): Promise<Process[]> {
  const names = await podNames(kubectl);
  const pids = await cgroupProcesses(nodeCgroup(instance));
  return Promise.all(
    pids.map(async (pid) => {
      const [cgroup, comm] = await Promise.all([readProc(pid, "cgroup"), readProc(pid, "comm")]);
      return { pid, group: groupOf(cgroup, comm.trim(), names) };
    }),
  );
}

/** Control plane and etcd, which the instance's clusters share, and the embedded cloud. */
async function offNode(instance: Instance): Promise<Process[]> {
  const processes = await supervisorOf(instance).list();
  return processes.flatMap(({ id, pid }) => {
    if (pid === undefined) return [];
    if (id === "etcd") return [{ pid, group: id }];
    if (id.startsWith(`${hub}.kube-`)) return [{ pid, group: id.slice(hub.length + 1) }];
    return id.startsWith(`${hub}.`) || id.startsWith(`${hub}-`) ? [] : [{ pid, group: CLOUD }];
  });
}

/** Every process of the hub, and of the embedded cloud below it. */
export async function processesOf(
  instance: Instance,
  kubectl: Kubectl,
): Promise<{ node: Process[]; others: Process[] }> {
  const [node, others] = await Promise.all([onNode(instance, kubectl), offNode(instance)]);
  const seen = new Set(node.map(({ pid }) => pid));
  return { node, others: others.filter(({ pid }) => !seen.has(pid)) };
}
