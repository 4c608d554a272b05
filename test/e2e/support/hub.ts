import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { cgroupProcesses, removeCgroup } from "@eks-gitops-fleet/local/instance";
import { loadRecord, type ProcessSpec, supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { killHard } from "@eks-gitops-fleet/local/test";
import { expect } from "vitest";
import { eventually, instance, kubectl } from "./fleet.ts";

/** EKS name of the hub. */
export const HUB = "fleet-hub";
/** Processes of a cluster in the order in which they start; the same for the node's. */
const ORDER = [
  ...["kube-apiserver", "kube-controller-manager", "kube-scheduler"],
  ...["containerd", "kubelet", "kube-proxy", "network-policy"],
];

export const supervisor = supervisorOf(instance);

/** The processes of a cluster that the supervisor keeps: its control plane and its nodes. */
export const processes = async (cluster: string): Promise<ProcessSpec[]> =>
  (await loadRecord(instance))
    .map(({ spec }) => spec)
    .filter(({ id }) => id.startsWith(`${cluster}.`))
    .sort((a, b) => rank(a) - rank(b));

const rank = ({ id }: ProcessSpec) => ORDER.findIndex((program) => id.endsWith(`.${program}`));

/** The cgroups of a cluster's nodes: everything that runs on them is in there. */
export const nodes = (specs: readonly ProcessSpec[]): string[] => [
  ...new Set(specs.flatMap(({ cgroup }) => (cgroup === undefined ? [] : [dirname(cgroup)]))),
];

/** Switches the hub off, control plane and nodes with all their pods at once; AWS goes on. Gives what switches it on again. */
export async function switchHubOff(): Promise<() => Promise<void>> {
  const specs = await processes(HUB);
  expect(specs.map(rank)).not.toContain(-1);
  await Promise.all(specs.map(({ id }) => supervisor.stop(id)));
  for (const cgroup of nodes(specs)) await removeCgroup(cgroup);
  return async () => {
    for (const spec of specs) await supervisor.start(spec);
    await eventually(120, () => kubectl(["get", "--raw", "/readyz"]));
  };
}

/** Kills, hard, what runs in a cluster's pods whose names begin so; there must be one. */
export async function killPods(name: string, cluster: string = HUB): Promise<void> {
  // A pod that was killed just before may still be starting again.
  await eventually(120, async () => {
    const all = (await Promise.all(nodes(await processes(cluster)).map(cgroupProcesses))).flat();
    const found = all.filter((pid) => environment(pid).some((line) => line.startsWith(`HOSTNAME=${name}`)));
    expect(found.length, `processes of pods ${name}* on ${cluster}`).toBeGreaterThan(0);
    for (const pid of found) process.kill(pid, "SIGKILL");
  });
}

/** Kills a process that the supervisor keeps, hard. */
export async function killSupervised(id: string): Promise<void> {
  await eventually(60, async () => {
    const pid = (await supervisor.list()).find((one) => one.id === id)?.pid;
    killHard(pid);
  });
}

/** What a process was started with; the container runtime tells each the name of its pod as HOSTNAME. */
function environment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // ended meanwhile
  }
}
