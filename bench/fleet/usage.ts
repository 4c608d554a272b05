import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kubectl } from "@eks-gitops-fleet/local/cli";
import { hierarchies, type Instance } from "@eks-gitops-fleet/local/instance";
import { counter } from "../metrics.ts";
import { reconcilesOf } from "./metrics-of-pods.ts";
import { CLOUD, nodeCgroup, type Process, processesOf } from "./processes.ts";

/** Processor seconds until now, and bytes in memory. */
interface Share {
  readonly cpu: number;
  readonly memory: number;
}

/** What the hub has used so far, and its memory now. */
export interface Usage {
  /** Processor seconds of its node with all pods, and of its control plane with etcd. */
  readonly cpu: number;
  /** Bytes that its processes have in memory. */
  readonly memory: number;
  /** Bytes that the embedded cloud has in memory. */
  readonly cloud: number;
  /** Requests that its API server has answered. */
  readonly requests: number;
  /** Bytes of etcd's file. */
  readonly store: number;
  /** Objects in etcd. */
  readonly objects: number;
  /** By controller, and by process of the control plane and the node. */
  readonly by: ReadonlyMap<string, Share>;
  /** Reconciliations by controller. */
  readonly reconciles: ReadonlyMap<string, number>;
}

/** Clock ticks of /proc/<pid>/stat in a second (USER_HZ), and bytes of a page. */
const TICKS = 100;
const PAGE = 4096;

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

/** The shares of processes, summed by their groups. */
async function shares(processes: readonly Process[]): Promise<Map<string, Share>> {
  const by = new Map<string, Share>();
  for (const { pid, group } of processes) {
    const { cpu, memory } = by.get(group) ?? { cpu: 0, memory: 0 };
    by.set(group, { cpu: cpu + (await cpuOf(pid)), memory: memory + (await residentOf(pid)) });
  }
  return by;
}

/** Reads what the hub of an instance has used. */
export async function usageOf(instance: Instance, kubectl: Kubectl): Promise<Usage> {
  const { node, others } = await processesOf(instance, kubectl);
  const by = await shares([...node, ...others]);
  const controlPlane = await shares(others.filter(({ group }) => group !== CLOUD));
  const total = (of: Iterable<Share>, what: keyof Share) => [...of].reduce((sum, share) => sum + share[what], 0);
  const cloud = by.get(CLOUD)?.memory ?? 0;
  const metrics = await kubectl(["get", "--raw", "/metrics"]);
  return {
    cpu: (await cgroupCpu(nodeCgroup(instance))) + total(controlPlane.values(), "cpu"),
    memory: total(by.values(), "memory") - cloud,
    cloud,
    requests: counter(metrics, "apiserver_request_total"),
    store: counter(metrics, "apiserver_storage_size_bytes"),
    objects: counter(metrics, "apiserver_resource_objects"),
    by,
    reconciles: await reconcilesOf(node),
  };
}

/** Bytes that programs can still get on this machine. */
export async function availableMemory(): Promise<number> {
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1];
  if (kibibytes === undefined) throw new Error("/proc/meminfo does not say MemAvailable: Linux has it since 3.14");
  return Number(kibibytes) * 1024;
}
