import { readFileSync } from "node:fs";
import { processesOf } from "@eks-gitops-fleet/local/instance";
import { SUPERVISOR_ID, supervisorOf } from "@eks-gitops-fleet/local/supervisor";
import { killHard } from "@eks-gitops-fleet/local/test";
import { describe, expect, test } from "vitest";
import { cli, eventually, get, instance, kubectl, tryPulumi } from "./support/fleet.ts";

const supervisor = supervisorOf(instance);
const processes = await supervisor.list();

describe("a killed process", () => {
  test("all parts of the stack are under supervision", () => {
    const ids = processes.map(({ id }) => id).join(" ");
    for (const part of [
      ...["ministack", "gateway", "git", "etcd", "apiserver", "controller-manager", "scheduler", "kubelet"],
      ...["containerd", "proxy", "network-policy", "webhooks"],
    ])
      expect(ids).toContain(part);
  });

  test.each(processes.map(({ id }) => id))("%s is noticed with a clear message and runs again", async (id) => {
    const before = (await supervisor.list()).find((process) => process.id === id);
    killHard(before?.pid);
    await eventually(90, async () => {
      const now = (await supervisor.list()).find((process) => process.id === id);
      expect(now).toMatchObject({ state: "ready", restarts: (before?.restarts ?? 0) + 1 });
      expect(now?.pid).not.toBe(before?.pid);
    });
    const events = readFileSync(instance.paths.events, "utf8").split("\n");
    expect(
      events.some((line) => line.includes(` ${id} ended (signal SIGKILL): starting it again`)),
      events.slice(-5).join("\n"),
    ).toBe(true);
  });

  test("the supervisor itself comes back, and keeps the processes that it finds", async () => {
    const runs = async () => (await supervisor.list()).map(({ id, pid, state }) => `${id} ${pid} ${state}`).sort();
    const before = await runs();
    const own = processesOf(instance).filter(({ id, command }) => id === SUPERVISOR_ID && command !== "sh");
    expect(own.length).toBeGreaterThan(0);
    for (const { pid } of own) process.kill(pid, "SIGKILL");
    await eventually(60, async () => expect(await runs()).toEqual(before));
    expect(readFileSync(instance.paths.events, "utf8")).toMatch(
      /supervisor ended \(exit code 137\): starting it again/,
    );
  });

  test("a controller's container is started again by its node", async () => {
    const restarts = async () => {
      const { items } = await get(["pods", "--namespace", "flux-system", "--selector", "app=source-controller"]);
      return items[0].status.containerStatuses[0].restartCount as number;
    };
    const before = await restarts();
    const [controller] = processesOf(instance).filter(
      ({ id, command }) => id === undefined && command.startsWith("source-control"),
    );
    killHard(controller?.pid);
    await eventually(90, async () => expect(await restarts()).toBeGreaterThan(before));
  });

  test("afterwards everything is Ready again, and Pulumi finds nothing to do", async () => {
    await eventually(480, async () => {
      const { code, stdout } = await cli("status.ts");
      expect(code, stdout).toBe(0);
    });
    // The whole way again: credentials by web identity, Secrets Manager, Secret.
    const now = `force-sync=${Date.now()}`;
    await kubectl(["annotate", "externalsecret", "gitops-system", "--namespace", "flux-system", "--overwrite", now]);
    await kubectl([
      ...["wait", "externalsecret/gitops-system", "--namespace", "flux-system"],
      ...["--for=condition=Ready", "--timeout=120s"],
    ]);
    const { code, stdout } = await tryPulumi(["preview", "--expect-no-changes"]);
    expect(code, stdout).toBe(0);
  }, 900_000);
});
