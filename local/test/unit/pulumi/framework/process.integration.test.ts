import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { UNKNOWN } from "../../../../pulumi/framework/values.ts";
import { startPlugin } from "../harness.ts";

const plugins = fileURLToPath(new URL("../../../../pulumi/", import.meta.url));

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // ESRCH: there is no such process.
    return false;
  }
}

test.each(["random", "eks"])("the plugin %s ends when the engine that started it is killed", async (name) => {
  const script = `"${process.execPath}" "${plugins}${name}/main.ts" & echo "pid $!"; wait`;
  const engine = spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  const lines: string[] = [];
  createInterface({ input: engine.stdout }).on("line", (line) => lines.push(line));
  await expect.poll(() => lines.length).toBe(2);
  const pid = Number(/pid (\d+)/.exec(lines.join("\n"))?.[1]);
  expect(alive(pid)).toBe(true);
  engine.kill("SIGKILL");
  await expect.poll(() => alive(pid)).toBe(false);
});

test("the engine's interrupt ends a plugin at once, without an error", async () => {
  const plugin = await startPlugin("local/pulumi/random/main.ts");
  const ended = new Promise((resolve) => plugin.process.once("exit", resolve));
  plugin.process.kill("SIGINT");
  expect(await ended).toBe(0);
  await plugin.close();
});

test("resources are refused before the provider is configured, unknown configuration is not an obstacle to a check", async () => {
  const plugin = await startPlugin("local/pulumi/tls/main.ts");
  await expect(plugin.create("tls:index/privateKey:PrivateKey", { algorithm: "RSA" })).rejects.toThrow(
    "the provider tls was not configured yet",
  );
  expect((await plugin.checkConfig({ proxy: UNKNOWN })).failures).toEqual([
    expect.stringContaining("does not implement 'proxy'"),
  ]);
  await expect(plugin.invoke("tls:index/getCertificate:getCertificate", {})).rejects.toThrow("was not configured yet");
  await plugin.configure({});
  await expect(plugin.invoke("tls:index/getCertificate:getCertificate", {})).rejects.toThrow(
    "does not implement the function tls:index/getCertificate:getCertificate; implemented: none",
  );
  await plugin.close();
});
