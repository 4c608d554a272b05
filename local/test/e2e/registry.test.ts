/** An instance's registry with the real docker-registry and crane: who may push, and who may pull. */
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { cp, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Instance, openInstance, releaseInstance } from "../../instance/index.ts";
import { publishImages, REGISTRY_PORT, registryProcesses } from "../../registry/index.ts";
import { supervisorOf } from "../../supervisor/client.ts";
import { ensureToolchain, type Toolchain } from "../../toolchain/index.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-registry-"));
let toolchain: Toolchain;
let instance: Instance;
let layout = "";

beforeAll(async () => {
  toolchain = await ensureToolchain();
  instance = await openInstance(join(base, "instance"));
  const pause = toolchain.images().find(({ reference }) => reference.includes("pause"));
  layout = pause?.tar ?? expect.fail("the toolchain has no image of pause");
  for (const spec of await registryProcesses(instance, toolchain.bin("docker-registry")))
    await supervisorOf(instance).start(spec);
  await publishImages(instance, toolchain.bin("crane"), [{ repository: "example/pause", tag: "1", layout }]);
});
afterAll(async () => {
  await supervisorOf(instance).shutdown();
  await releaseInstance(instance);
  await rm(base, { recursive: true });
});

/** Another user of this machine, who trusts the instance's CA and has no credential. */
const stranger = async (...args: string[]): Promise<string> => {
  const home = join(base, "home");
  await mkdir(home, { recursive: true });
  await cp(instance.paths.caCertificate, join(home, "ca.crt"));
  const env = { HOME: home, SSL_CERT_FILE: join(home, "ca.crt") };
  return (await promisify(execFile)(toolchain.bin("crane"), args, { env, cwd: dirname(home) })).stdout;
};
const at = (host: string, name = "pause") => `${host}:${REGISTRY_PORT}/example/${name}:1`;

test("what the instance pushed is pulled without a credential", async () => {
  expect(JSON.parse(await stranger("manifest", at(instance.gatewayAddress)))).toHaveProperty("layers");
});

test("a local user or a pod can't push where clusters pull", async () => {
  await expect(stranger("push", layout, at(instance.gatewayAddress, "other"))).rejects.toThrow(/UNSUPPORTED|405/);
});

test("a local user can't push where the instance does", async () => {
  await expect(stranger("push", layout, at(instance.loopbackAddress, "other"))).rejects.toThrow(/UNAUTHORIZED|401/);
});
