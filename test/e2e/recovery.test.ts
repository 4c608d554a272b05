import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { supervisorOf } from "../../local/supervisor/client.ts";
import { cli, eventually, instance, kubectl, tryPulumi } from "./support/fleet.ts";

const supervisor = supervisorOf(instance);
const processes = await supervisor.list();

describe("a killed process", () => {
  test("all parts of the stack are under supervision", () => {
    const ids = processes.map(({ id }) => id).join(" ");
    for (const part of [
      "ministack",
      "gateway",
      "git",
      "etcd",
      "apiserver",
      "controller-manager",
      "scheduler",
      "kubelet",
      "containerd",
      "proxy",
    ])
      expect(ids).toContain(part);
  });

  test.each(processes.map(({ id }) => id))("%s is noticed with a clear message and runs again", async (id) => {
    const before = (await supervisor.list()).find((process) => process.id === id);
    process.kill(before?.pid ?? 0, "SIGKILL");
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

  test("afterwards everything is Ready again, and Pulumi finds nothing to do", async () => {
    await eventually(240, async () => {
      const { code, stdout } = await cli("status.ts");
      expect(code, stdout).toBe(0);
    });
    // The whole way again: credentials by web identity, Secrets Manager, Secret.
    const now = `force-sync=${Date.now()}`;
    await kubectl(["annotate", "externalsecret", "gitops-system", "--namespace", "flux-system", "--overwrite", now]);
    await kubectl([
      "wait",
      "externalsecret/gitops-system",
      "--namespace",
      "flux-system",
      "--for=condition=Ready",
      "--timeout=120s",
    ]);
    const { code, stdout } = await tryPulumi(["preview", "--expect-no-changes"]);
    expect(code, stdout).toBe(0);
  });
});
