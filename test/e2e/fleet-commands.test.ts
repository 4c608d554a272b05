import { existsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { describe, expect, test } from "vitest";
import { fromBase64 } from "../../lib/base64.ts";
import { succeeds } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { aws, execute, git, instance, outputs } from "./support/fleet.ts";

const base = temporaryFolder("fleet-commands");
const fleet = (args: readonly string[]) => execute(join(instance.paths.bin, "fleet"), args, { cwd: base });

async function clone(repository: string, among = base): Promise<string> {
  const folder = join(among, repository);
  if (!existsSync(folder)) await git(["clone", "--quiet", bareRepository(instance, repository), folder]);
  return folder;
}

const secret = async (name: string) =>
  JSON.parse(JSON.parse(await aws(["secretsmanager", "get-secret-value", "--secret-id", name])).SecretString);

/** What is in a SealedSecret, opened by kubeseal with the private sealing key of a scope. */
async function opened(file: string, scope: string) {
  const { activeSealingKeys } = await outputs();
  const key = join(base, `${scope}.key`);
  const sealing = await secret(`fleet/sealing-keys/${scope}/${activeSealingKeys[scope]}`);
  writeFileSync(key, sealing["tls.key"], { mode: 0o600 });
  const args = ["--recovery-unseal", "--recovery-private-key", key];
  return execute(join(instance.paths.bin, "kubeseal"), args, { input: await readFile(file, "utf8") });
}

/** What a credential lets Git read of a repository over SSH. */
async function lsRemote(repository: string, credential: Readonly<Record<string, string>>) {
  const [identity, hosts] = [join(base, `${repository}.identity`), join(base, `${repository}.known_hosts`)];
  writeFileSync(identity, credential["identity"] ?? "", { mode: 0o600 });
  writeFileSync(hosts, credential["known_hosts"] ?? "");
  const options = `-F /dev/null -i ${identity} -o IdentitiesOnly=yes -o UserKnownHostsFile=${hosts}`;
  // This machine doesn't resolve the name: HostKeyAlias keeps the check of the host key by its name.
  const env = {
    GIT_SSH_COMMAND: `ssh ${options} -o StrictHostKeyChecking=yes -o HostKeyAlias=[git.fleet.internal]:2222`,
  };
  return execute("git", ["ls-remote", `ssh://git@${instance.gatewayAddress}:2222/${repository}.git`], { env });
}

describe("fleet new-cluster", () => {
  test("seals the deploy keys of Secrets Manager so that the spoke's environment opens them, and no other", async () => {
    const system = await clone("gitops-system");
    const args = ["new-cluster", "sealed", "--environment", "dev", "--tenant", "payments", "--repository", system];
    const { code, stdout, stderr } = await fleet(args);
    expect(code, stdout + stderr).toBe(0);
    for (const repository of ["gitops-system", "gitops-workloads"]) {
      const file = join(system, "spokes", "fleet", "sealed", "secrets", `${repository}.yaml`);
      const { stdout: plain, stderr: why } = await opened(file, "dev");
      expect(why).toBe("");
      const { metadata, data } = JSON.parse(plain);
      expect(metadata).toMatchObject({ name: repository, namespace: "flux-system" });
      expect(fromBase64(data)).toEqual(await secret(`fleet/git/${repository}`));
      expect((await opened(file, "prod")).code).not.toBe(0);
    }
  });

  test("seals new deploy keys for the spoke alone where it is to have keys of its own, and these read the repositories", async () => {
    const system = await clone("gitops-system");
    const { code, stdout, stderr } = await fleet([
      ...["new-cluster", "amber", "--environment", "prod", "--tenant", "payments", "--repository", system],
      ...["--sealing", "cluster", "--deploy-keys", "own"],
    ]);
    expect(code, stdout + stderr).toBe(0);
    const keys: Record<string, string> = {};
    for (const repository of ["gitops-system", "gitops-workloads"]) {
      const file = join(system, "spokes", "fleet", "amber", "secrets", `${repository}.yaml`);
      for (const other of ["prod", "dev", "local"]) expect((await opened(file, other)).code, other).not.toBe(0);
      const credential = fromBase64(JSON.parse((await opened(file, "cluster-amber")).stdout).data);
      const publicKey = credential["identity.pub"] ?? "";
      expect(stdout).toContain(`read-only, at ssh://git@git.fleet.internal:2222/${repository}.git:\n  ${publicKey}\n`);
      expect(credential["identity"]).not.toBe((await secret(`fleet/git/${repository}`)).identity);
      const reads = () => lsRemote(repository, credential);
      expect((await reads()).code, "before it is registered").not.toBe(0);
      const registered = await execute(join(instance.paths.bin, "deploy-key"), [repository, publicKey]);
      expect(registered.code, registered.stderr).toBe(0);
      expect(await reads()).toMatchObject({ code: 0, stdout: expect.stringContaining("refs/heads/main") });
      keys[repository] = publicKey;
    }
    expect(keys["gitops-system"]).not.toBe(keys["gitops-workloads"]);
  });

  test("asks the platform team for the sealing key of a spoke that has none, and writes nothing", async () => {
    const system = await clone("gitops-system");
    const args = ["--environment", "prod", "--tenant", "payments", "--sealing", "cluster", "--repository", system];
    const { code, stderr } = await fleet(["new-cluster", "coral", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain('append { scope: cluster-coral, generation: "1", active: true } to sealingKeys');
    expect(existsSync(join(system, "spokes", "fleet", "coral"))).toBe(false);
  });

  test("ends with exit code 2 and every problem, and writes nothing", async () => {
    const system = await clone("gitops-system");
    const args = ["new-cluster", "Wrong", "--environment", "stage", "--tenant", "payments", "--repository", system];
    const { code, stderr } = await fleet(args);
    expect(code).toBe(2);
    expect(stderr).toContain("2 problems in fleet new-cluster, nothing was changed:");
    expect(existsSync(join(system, "spokes", "fleet", "Wrong"))).toBe(false);
  });
});

describe("fleet onboard", () => {
  const request = [
    ...["onboard", "payment-app", "--cluster", "amber", "--tenant", "payments"],
    ...["--repository-url", "ssh://git@git.fleet.internal:2222/payment-app-manifests.git", "--repository"],
  ];
  /** Expects that the credential opens with the spoke's own key, and not with its environment's. */
  const expectOwnKey = async (workloads: string) => {
    const file = join(workloads, "clusters", "amber", "payment-app", "credential.yaml");
    expect((await opened(file, "prod")).code).not.toBe(0);
    expect((await opened(file, "cluster-amber")).code).toBe(0);
  };

  test("seals for a spoke with keys of its own as its Spoke says, so that its environment's key does not open it", async () => {
    await clone("gitops-system");
    const workloads = await clone("gitops-workloads");
    await succeeds(fleet([...request, workloads]));
    await expectOwnKey(workloads);
  });

  test("asks with which key to seal for it where no checkout has its Spoke", async () => {
    const workloads = await clone("gitops-workloads", join(base, "alone"));
    const unsaid = await fleet([...request, workloads, "--environment", "prod"]);
    expect(unsaid.code).toBe(2);
    expect(unsaid.stderr).toContain("--sealing: must be named");
    await succeeds(fleet([...request, workloads, "--environment", "prod", "--sealing", "cluster"]));
    await expectOwnKey(workloads);
  });

  test("prints the public half of the key that the application's namespace gets, for the Git host of the fleet", async () => {
    const workloads = await clone("gitops-workloads");
    const stdout = await succeeds(
      fleet([
        ...["onboard", "payment-app", "--cluster", "sealed", "--environment", "dev", "--tenant", "payments"],
        ...["--repository-url", "ssh://git@git.fleet.internal:2222/payment-app-manifests.git"],
        ...["--repository", workloads],
      ]),
    );
    const file = join(workloads, "clusters", "sealed", "payment-app", "credential.yaml");
    const { data } = JSON.parse((await opened(file, "dev")).stdout);
    const credential = fromBase64(data);
    expect(stdout).toContain(credential["identity.pub"]);
    expect(credential["known_hosts"]).toBe((await secret("fleet/git/gitops-workloads")).known_hosts);
  });
});
