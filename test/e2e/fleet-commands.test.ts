import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fromBase64 } from "../../lib/bridge.ts";
import { bareRepository } from "../../local/git/index.ts";
import { aws, execute, git, instance, outputs } from "./support/fleet.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-commands-"));
afterAll(() => rmSync(base, { recursive: true }));

const fleet = (args: readonly string[]) => execute(join(instance.paths.bin, "fleet"), args, { cwd: base });

async function clone(repository: string): Promise<string> {
  const folder = join(base, repository);
  if (!existsSync(folder)) await git(["clone", "--quiet", bareRepository(instance, repository), folder]);
  return folder;
}

const secret = async (name: string) =>
  JSON.parse(JSON.parse(await aws(["secretsmanager", "get-secret-value", "--secret-id", name])).SecretString);

/** What is in a SealedSecret, opened by kubeseal with the private sealing key of an environment. */
async function opened(file: string, environment: string) {
  const { activeSealingKeys } = await outputs();
  const key = join(base, `${environment}.key`);
  const sealing = await secret(`fleet/sealing-keys/${environment}/${activeSealingKeys[environment]}`);
  writeFileSync(key, sealing["tls.key"], { mode: 0o600 });
  const args = ["--recovery-unseal", "--recovery-private-key", key];
  return execute(join(instance.paths.bin, "kubeseal"), args, { input: await readFile(file, "utf8") });
}

describe("fleet new-cluster", () => {
  test("seals the deploy keys of Secrets Manager so that the spoke's environment opens them, and no other", async () => {
    const system = await clone("gitops-system");
    const args = ["new-cluster", "sealed", "--environment", "dev", "--tenant", "payments", "--repository", system];
    const { code, stdout, stderr } = await fleet(args);
    expect(code, stdout + stderr).toBe(0);
    for (const repository of ["gitops-system", "gitops-workloads"]) {
      const file = join(system, "spokes", "sealed", "secrets", `${repository}.yaml`);
      const { stdout: plain, stderr: why } = await opened(file, "dev");
      expect(why).toBe("");
      const { metadata, data } = JSON.parse(plain);
      expect(metadata).toMatchObject({ name: repository, namespace: "flux-system" });
      expect(fromBase64(data)).toEqual(await secret(`fleet/git/${repository}`));
      expect((await opened(file, "prod")).code).not.toBe(0);
    }
  });

  test("ends with exit code 2 and every mistake, and writes nothing", async () => {
    const system = await clone("gitops-system");
    const args = ["new-cluster", "Wrong", "--environment", "stage", "--tenant", "payments", "--repository", system];
    const { code, stderr } = await fleet(args);
    expect(code).toBe(2);
    expect(stderr).toContain("2 mistakes in fleet new-cluster, nothing was changed:");
    expect(existsSync(join(system, "spokes", "Wrong"))).toBe(false);
  });
});

describe("fleet onboard", () => {
  test("prints the public half of the key that the application's namespace gets, for the Git host of the fleet", async () => {
    const workloads = await clone("gitops-workloads");
    const { code, stdout, stderr } = await fleet([
      ...["onboard", "payment-app", "--cluster", "sealed", "--environment", "dev", "--tenant", "payments"],
      ...["--repository-url", "ssh://git@git.fleet.internal:2222/payment-app-manifests.git", "--repository", workloads],
    ]);
    expect(code, stdout + stderr).toBe(0);
    const file = join(workloads, "clusters", "sealed", "payment-app", "credential.yaml");
    const { data } = JSON.parse((await opened(file, "dev")).stdout);
    const credential = fromBase64(data);
    expect(stdout).toContain(credential["identity.pub"]);
    expect(credential["known_hosts"]).toBe((await secret("fleet/git/gitops-workloads")).known_hosts);
  });
});
