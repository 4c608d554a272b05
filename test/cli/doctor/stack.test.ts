import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { readStack } from "../../../cli/doctor/stack.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { root } from "../support/fleet.ts";
import { devFile, noPrograms, programs } from "./support/programs.ts";

const base = temporaryFolder("fleet-doctor-stack");
const read = (stack: string | undefined, run = noPrograms, configFile?: string) =>
  readStack({ root, stack, configFile }, run);

/** The dev stack with other values. */
function changed(config: Record<string, unknown>, rest: Record<string, unknown> = {}) {
  const file = join(base, "Pulumi.changed.yaml");
  const dev = devFile();
  writeFileSync(file, stringify({ ...dev, ...rest, config: { ...dev.config, ...config } }));
  return read("changed", noPrograms, file);
}

describe("fleet doctor, configuration", () => {
  test.each(["dev", "prod", "local"])("%s as it is in the checkout can be read", async (name) => {
    const { stack } = await read(name);
    expect(stack?.settings.fleet).toMatch(/^fleet/);
  });

  test("names the network of the sample for development as the one thing that must be replaced", async () => {
    const { findings } = await read("dev");
    expect(findings).toMatchObject([{ status: "wrong", name: "endpointPublicAccessCidrs[0]" }]);
  });

  test("tells the stack's region, accounts and how its secrets are kept, with the defaults of the project", async () => {
    const { stack, findings } = await changed({}, { secretsprovider: "awskms://alias/pulumi" });
    expect(stack).toMatchObject({
      region: "eu-central-1",
      accounts: ["111111111111"],
      secretsProvider: "awskms://alias/pulumi",
      hasPassphrase: false,
      settings: { fleet: "fleet-dev", natGateways: "single", tenant: "platform" },
    });
    expect(findings).toMatchObject([{ status: "ok" }]);
  });

  test("takes accounts as pulumi config set writes them, and no single one, which the provider refuses", async () => {
    expect((await changed({ "aws:allowedAccountIds": '["123456789012"]' })).stack?.accounts).toEqual(["123456789012"]);
    const { findings } = await changed({ "aws:allowedAccountIds": "012345678901" });
    expect(findings).toMatchObject([
      { status: "wrong", message: expect.stringContaining("is not a list of account IDs") },
    ]);
  });

  test("lists every problem with what to do, and still tells what can be read", async () => {
    const { stack, findings } = await changed({
      "eks-gitops-fleet:zones": 7,
      "eks-gitops-fleet:gitKnownHosts": "",
      "aws:region": undefined,
    });
    expect(findings.map(({ name, status }) => [name, status])).toEqual([
      ["aws:region", "wrong"],
      ["zones", "wrong"],
      ["gitKnownHosts", "wrong"],
    ]);
    for (const { todo } of findings) expect(todo).not.toBe("");
    expect(stack?.settings.fleet).toBe("fleet-dev");
  });

  test("an encrypted value counts as given, and as a secret", async () => {
    const byToken = {
      "eks-gitops-fleet:gitAuthentication": "token",
      "eks-gitops-fleet:gitToken": { secure: "v1:abc" },
      "eks-gitops-fleet:gitopsSystemRepoUrl": "https://git.example/system.git",
      "eks-gitops-fleet:gitopsWorkloadsRepoUrl": "https://git.example/workloads.git",
    };
    expect((await changed(byToken)).findings).toMatchObject([{ status: "ok" }]);
    const pullSecret = await changed({ "eks-gitops-fleet:pullSecret": { secure: "v1:abc" } });
    expect(pullSecret.findings).toMatchObject([{ status: "ok" }]);
    expect(pullSecret.stack?.encrypted).toEqual(["pullSecret"]);
    const { findings } = await changed({ ...byToken, "eks-gitops-fleet:gitToken": "plain" });
    expect(findings).toMatchObject([{ name: "gitToken", message: expect.stringContaining("plain text") }]);
    expect(JSON.stringify(findings)).not.toContain('"plain"');
  });

  test("takes the selected stack, and the file of a stack that is named with its organization", async () => {
    expect((await read(undefined, programs({ pulumi: "prod\n" }))).stack?.name).toBe("prod");
    expect((await read("acme/eks-gitops-fleet/prod")).stack?.settings.environment).toBe("prod");
  });

  test("says which stacks there are when none is meant, or the one that is meant has no file", async () => {
    const none = await read(undefined, programs({ pulumi: { code: 255, stderr: "error: no stack selected" } }));
    expect(none.stack).toBeUndefined();
    expect(none.findings).toMatchObject([{ status: "wrong", todo: expect.stringContaining("dev, local, prod") }]);
    expect((await read("staging")).findings).toMatchObject([
      { status: "wrong", message: expect.stringContaining("Pulumi.staging.yaml") },
    ]);
  });
});
