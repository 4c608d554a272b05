import { setTimeout as sleep } from "node:timers/promises";
import { DescribeClusterCommand } from "@aws-sdk/client-eks";
import { cgroupProcesses, run } from "@eks-gitops-fleet/local/instance";
import { expect } from "vitest";
import { account } from "./fleet.ts";
import { nodes, processes, supervisor } from "./hub.ts";

/** What is away for a while and then goes on, without being started again: a process that hangs, a machine that stands still, a link that drops packets. */

/** Stops processes for a while; those that end meanwhile are left alone. */
async function freeze(pids: readonly number[], seconds: number): Promise<void> {
  const tell = (signal: "SIGSTOP" | "SIGCONT") => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };
  tell("SIGSTOP");
  try {
    await sleep(seconds * 1000);
  } finally {
    tell("SIGCONT");
  }
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

/** Drops what the nodes and pods of a cluster send to another cluster's API server. */
export async function cutOff(from: string, to: string, seconds: number): Promise<void> {
  const { cluster } = await account.eks.send(new DescribeClusterCommand({ name: to }));
  const address = new URL(cluster?.endpoint ?? "").hostname;
  const namespaces = new Set((await processes(from)).flatMap(({ netns }) => netns ?? []));
  expect(namespaces.size, `network namespaces of nodes of ${from}`).toBeGreaterThan(0);
  const route = (verb: "add" | "del") =>
    Promise.all(
      [...namespaces].map((name) =>
        run(["nsenter", `--net=/run/netns/${name}`, "--", "ip", "route", verb, "blackhole", `${address}/32`]),
      ),
    );
  await route("add");
  try {
    await sleep(seconds * 1000);
  } finally {
    await route("del");
  }
}
