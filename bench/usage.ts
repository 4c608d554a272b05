import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kubectl } from "@eks-gitops-fleet/local/cli";
import { cgroupProcesses, hierarchies, type Instance } from "@eks-gitops-fleet/local/instance";
import { supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { hub } from "./cluster.ts";

/** What the hub has used so far, and its memory now. */
export interface Usage {
  /** Processor seconds of its node with all pods, and of its control plane with etcd. */
  readonly cpu: number;
  /** Bytes that its processes have in memory. */
  readonly memory: number;
  /** Requests that its API server has answered. */
  readonly requests: number;
}

/** Clock ticks of /proc/<pid>/stat in a second (USER_HZ), and bytes of a page. */
const TICKS = 100;
const PAGE = 4096;

/** Processes outside the node's cgroup: the control plane, and etcd, which the instance's clusters share. */
async function controlPlane(instance: Instance): Promise<number[]> {
  const processes = await supervisorOf(instance).list();
  const own = processes.filter(({ id }) => id === "etcd" || id.startsWith(`${hub}.kube-`));
  return own.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
}

/** Processor seconds of a process. Pids that are gone count as nothing. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // After the name, which may hold anything: fields 14 and 15 of proc(5) are utime and stime.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS;
}

async function residentOf(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(statm.split(" ")[1] ?? 0) * PAGE;
}

/** Processor seconds of a cgroup, with what ended in it. */
async function cgroupCpu(cgroup: string): Promise<number> {
  const { version, roots } = await hierarchies();
  if (version === 2) {
    const stat = await readFile(join(roots[0] ?? "", cgroup, "cpu.stat"), "utf8");
    return Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) / 1e6;
  }
  const tree = roots.find((root) => root.split("/").at(-1)?.split(",").includes("cpuacct"));
  if (tree === undefined) throw new Error("no cgroup hierarchy counts processor time (cpuacct): mount it");
  return Number(await readFile(join(tree, cgroup, "cpuacct.usage"), "utf8")) / 1e9;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The sum of a counter over all its labels, in the text of a metrics endpoint. */
export function counter(metrics: string, name: string): number {
  const values = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].map(([, value]) =>
    Number(value),
  );
  if (values.length === 0) throw new Error(`the metrics have no counter ${name}`);
  return sum(values);
}

/** Reads what the hub of an instance has used. Its one node is number 0. */
export async function usageOf(instance: Instance, kubectl: Kubectl): Promise<Usage> {
  const node = `${instance.kernel.cgroup}/${hub}-0`;
  const outside = await controlPlane(instance);
  const all = [...outside, ...(await cgroupProcesses(node))];
  return {
    cpu: (await cgroupCpu(node)) + sum(await Promise.all(outside.map(cpuOf))),
    memory: sum(await Promise.all(all.map(residentOf))),
    requests: counter(await kubectl(["get", "--raw", "/metrics"]), "apiserver_request_total"),
  };
}
