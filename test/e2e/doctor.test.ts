import { join } from "node:path";
import { sshOf } from "@eks-gitops-fleet/local/cli";
import { pulumiPaths } from "@eks-gitops-fleet/local/pulumi";
import { describe, expect, test } from "vitest";
import type { Finding } from "../../cli/doctor/finding.ts";
import { quotas, vcpuQuotas } from "../../lib/quotas.ts";
import { execute, instance, outputs } from "./support/fleet.ts";

const configFile = join(pulumiPaths(instance.dir).project, "stacks", "Pulumi.local.yaml");

/** `fleet doctor` as a person runs it on the local stack, where it asks the instance alone. */
async function doctor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const full = ["doctor", "--stack", "local", "-o", "json", ...args];
  const { code, stdout, stderr } = await execute(join(instance.paths.bin, "fleet"), full, { env });
  expect(stderr).toBe("");
  const { ok, groups } = JSON.parse(stdout) as { ok: boolean; groups: { name: string; findings: Finding[] }[] };
  return { code, ok, of: (name: string) => groups.find((group) => group.name === name)?.findings ?? [] };
}
/** Nodes of the embedded cloud are no EC2 instances. */
const ofVcpus: readonly string[] = Object.values(vcpuQuotas).map((name) => quotas[name].name);
const named = (findings: readonly Finding[], name: string) => findings.find((finding) => finding.name === name);

describe("fleet doctor on the local stack", () => {
  test("finds login, backend, quotas and Git server as they must be", async () => {
    const { code, ok, of } = await doctor();
    expect(named(of("AWS login"), "identity")).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/:user\/deployer$/),
    });
    expect(named(of("AWS login"), "region")).toMatchObject({ status: "ok" });
    expect(of("configuration")).toMatchObject([{ status: "ok" }]);
    for (const name of ["backend", "stack", "secrets provider", "passphrase"])
      expect(named(of("backend"), name), name).toMatchObject({ status: "ok" });
    const counted = of("quotas").filter(({ status }) => status !== "note");
    expect(counted.map(({ name, status }) => [name, status])).toEqual(
      Object.values(quotas)
        .filter(({ name }) => !ofVcpus.includes(name))
        .map(({ name }) => [name, "ok"]),
    );
    for (const { message } of counted) expect(message).toContain("the hub takes 0 more");
    expect(of("Git hosts").map(({ name, status }) => [name, status])).toEqual([
      ["host key of [git.fleet.internal]:2222", "ok"],
      ["deploy key of gitops-system", "ok"],
      ["deploy key of gitops-workloads", "ok"],
    ]);
    expect(named(of("packages"), "charts")).toMatchObject({ status: "ok" });
    expect(of("packages").filter(({ status }) => status !== "ok" && status !== "note")).toEqual([]);
    // The instance brings what is needed.
    expect([code, ok]).toEqual([0, true]);
    for (const name of ["pulumi", "aws", "kubectl", "kubeseal"])
      expect(named(of("tools"), name), name).toMatchObject({ status: "ok" });
  });

  test("says that a fleet of a thousand spokes does not fit, with the request for more", async () => {
    const { code, of } = await doctor(["--spokes", "1000"]);
    expect(code).toBe(1);
    for (const { name, status, todo } of of("quotas").filter(({ name }) => !ofVcpus.includes(name))) {
      expect(status, name).toBe("wrong");
      expect(todo).toContain("aws service-quotas request-service-quota-increase");
    }
  });

  test("reports what it may not see as unknown", async () => {
    // Its env file sets the credentials, so the program itself is run.
    const root = join(import.meta.dirname, "..", "..");
    const env = {
      PATH: `${instance.paths.bin}:${process.env["PATH"] ?? ""}`,
      AWS_ENDPOINT_URL: instance.awsEndpoint,
      AWS_REGION: (await outputs())["bridgeData"].aws_region as string,
      AWS_ACCESS_KEY_ID: "AKIANOBODY",
      AWS_SECRET_ACCESS_KEY: "none",
      FLEET_SSH: sshOf(instance),
    };
    const args = [join(root, "cli", "main.ts"), "doctor", "--stack", "local", "--config-file", configFile, "--offline"];
    const { code, stdout } = await execute(process.execPath, args, { env });
    expect(code).toBe(1);
    expect(stdout).toContain("WRONG    identity: AWS does not accept these credentials");
    expect(stdout).toContain("ok       host key of [git.fleet.internal]:2222");
    expect(stdout).toMatch(/UNKNOWN {2}quotas: AWS can't be asked/);
  });
});
