import { join } from "node:path";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { setNoSpace } from "@eks-gitops-fleet/local/clusters";
import { faultsFile, setFaults } from "@eks-gitops-fleet/local/gateway";
import { cgroupProcesses, run } from "@eks-gitops-fleet/local/instance";
import { expect } from "vitest";
import { account, instance } from "./fleet.ts";
import { nodes, processes, supervisor } from "./hub.ts";

/** What is away for a while and then goes on, without being started again: a process that hangs, a machine that stands still, a link that drops packets. */

/**
 * Brings a fault about and resolves when it is over.
 * @param script what a shell in a session of its own does after these seconds: it ends the fault also when the tests are interrupted
 * @param words the script's arguments
 */
async function awayFor(
  seconds: number,
  begin: () => Promise<void>,
  script: string,
  words: readonly string[],
): Promise<void> {
  const end = ["setsid", "--wait", "sh", "-c", `sleep "$0"; ${script}`, String(seconds), ...words];
  for (const result of (await Promise.allSettled([run(end), begin()])).reverse())
    if (result.status === "rejected") throw result.reason;
}

/** Stops processes for a while; those that end meanwhile are left alone. */
async function freeze(pids: readonly number[], seconds: number): Promise<void> {
  const stop = async () => {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGSTOP");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };
  await awayFor(seconds, stop, 'for pid; do kill -CONT "$pid" 2> /dev/null; done; :', pids.map(String));
}

/** Freezes a process that the supervisor keeps. */
export async function freezeSupervised(id: string, seconds: number): Promise<void> {
  const pid = (await supervisor.list()).find((one) => one.id === id)?.pid;
  if (pid === undefined) throw new Error(`the supervisor keeps no process ${id} that runs`);
  await freeze([pid], seconds);
}

/** Freezes everything on a cluster's nodes: kubelet, container runtime, pods. */
export async function freezeNodes(cluster: string, seconds: number): Promise<void> {
  const pids = (await Promise.all(nodes(await processes(cluster)).map(cgroupProcesses))).flat();
  expect(pids.length, `processes on nodes of ${cluster}`).toBeGreaterThan(0);
  await freeze(pids, seconds);
}

/** Has the etcd of all clusters refuse every write, as one whose space is used up. */
export const fillEtcd = (seconds: number): Promise<void> =>
  awayFor(seconds, () => setNoSpace(instance, true), 'FLEET_LOCAL_DIR="$3" exec "$1" "$2"', [
    process.execPath,
    join(import.meta.dirname, "free-etcd.ts"),
    instance.dir,
  ]);

/** Has the AWS API show faults of its own (setFaults). */
const awsWith = (faults: Parameters<typeof setFaults>[1], seconds: number): Promise<void> =>
  awayFor(seconds, () => setFaults(instance, faults), 'rm -f "$1"', [faultsFile(instance)]);

/**
 * Has AWS's clock ahead by two hours, more than a session of one lasts: what was signed, assumed or issued before has expired, as where a
 * cluster's clock is late.
 */
export const advanceClock = (seconds: number): Promise<void> => awsWith({ clockAheadSeconds: 7200 }, seconds);

/** Has the certificates of AWS's names expired, as those of a TLS-inspecting proxy may be. */
export const expireCertificates = (seconds: number): Promise<void> => awsWith({ certificatesExpired: true }, seconds);

/** Drops what the nodes and pods of a cluster send to another cluster's API server. */
export async function cutOff(from: string, to: string, seconds: number): Promise<void> {
  const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: to }));
  const address = new URL(cluster?.endpoint ?? "").hostname;
  const namespaces = new Set((await processes(from)).flatMap(({ netns }) => netns ?? []));
  expect(namespaces.size, `network namespaces of nodes of ${from}`).toBeGreaterThan(0);
  const route = `blackhole ${address}/32`;
  const add = async () => {
    for (const name of namespaces)
      await run(["nsenter", `--net=/run/netns/${name}`, "--", "ip", "route", "add", ...route.split(" ")]);
  };
  // A node that is gone by then has taken its route along.
  const remove = `for name; do [ ! -e "/run/netns/$name" ] || nsenter --net="/run/netns/$name" -- ip route del ${route} || code=1; done; exit "\${code:-0}"`;
  await awayFor(seconds, add, remove, [...namespaces]);
}
