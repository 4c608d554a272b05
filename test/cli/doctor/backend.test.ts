import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkBackend } from "../../../cli/doctor/backend.ts";
import type { Stack } from "../../../cli/doctor/stack.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { devStack, noPrograms, programs } from "./support/programs.ts";

const base = temporaryFolder("fleet-doctor-backend");
const whoami = "pulumi whoami --json --non-interactive";
const list = "pulumi stack ls --json --non-interactive";
const bucket = JSON.stringify({ user: "me", url: "s3://bucket" });
const logged = (url: string, names: readonly string[]) =>
  programs({
    [whoami]: JSON.stringify({ user: "me", organizations: ["acme"], url }),
    [list]: JSON.stringify(names.map((name) => ({ name, current: false }))),
  });

async function look(run = logged("s3://bucket", ["dev"]), stack: Partial<Stack> = {}, env: NodeJS.ProcessEnv = {}) {
  const findings = await checkBackend(await devStack(stack), run, env);
  return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
}

describe("fleet doctor, backend", () => {
  test("is ok when it can be read, has the stack and KMS keeps its secrets", async () => {
    expect(await look(undefined, { secretsProvider: "awskms://alias/pulumi" })).toMatchObject({
      backend: { status: "ok", message: "s3://bucket, as me" },
      stack: { status: "ok" },
      "secrets provider": { status: "ok", message: "awskms://alias/pulumi" },
    });
  });

  test("without a login is wrong, without pulumi unknown", async () => {
    const run = programs({ [whoami]: { code: 255, stderr: "error: PULUMI_ACCESS_TOKEN must be set for login" } });
    expect((await look(run))["backend"]).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("PULUMI_ACCESS_TOKEN"),
      todo: expect.stringContaining("pulumi login"),
    });
    expect((await look(noPrograms))["backend"]?.status).toBe("unchecked");
  });

  test("that can't be read is wrong, though the login is remembered", async () => {
    const run = programs({ [whoami]: bucket, [list]: { code: 255, stderr: "error: AccessDenied: no s3:ListBucket" } });
    expect((await look(run))["backend"]).toMatchObject({
      status: "wrong",
      message: "s3://bucket can't be read: error: AccessDenied: no s3:ListBucket",
    });
  });

  test("without the stack says how it is made", async () => {
    expect(await look(logged("s3://bucket", ["prod"]))).toMatchObject({
      stack: { status: "note", todo: expect.stringContaining("pulumi stack init dev --secrets-provider awskms://") },
    });
  });

  test("finds a stack that is listed or named with its organization", async () => {
    const run = logged("https://app.pulumi.com/me", ["acme/eks-gitops-fleet/dev"]);
    expect(await look(run, { name: "acme/dev" })).toMatchObject({
      stack: { status: "ok" },
      "secrets provider": { status: "ok", message: "Pulumi Cloud" },
    });
  });

  test("of one's own needs a secrets provider", async () => {
    expect((await look())["secrets provider"]).toMatchObject({
      status: "wrong",
      todo: expect.stringContaining("pulumi stack change-secrets-provider"),
    });
  });

  test("with a passphrase needs one that is set and not empty", async () => {
    const file = join(base, "passphrase");
    const of = async (env: NodeJS.ProcessEnv) => (await look(undefined, { hasPassphrase: true }, env))["passphrase"];
    expect(await of({})).toMatchObject({ status: "wrong", message: expect.stringContaining("is not set") });
    expect(await of({ PULUMI_CONFIG_PASSPHRASE: "" })).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("is empty"),
    });
    expect(await of({ PULUMI_CONFIG_PASSPHRASE: "a secret" })).toMatchObject({ status: "ok" });
    expect(await of({ PULUMI_CONFIG_PASSPHRASE_FILE: file })).toMatchObject({
      status: "wrong",
      message: expect.stringContaining("can't be read"),
    });
    writeFileSync(file, "\n");
    expect(await of({ PULUMI_CONFIG_PASSPHRASE_FILE: file })).toMatchObject({ status: "wrong" });
    writeFileSync(file, "a secret\n");
    const found = await of({ PULUMI_CONFIG_PASSPHRASE_FILE: file });
    expect(found).toMatchObject({ status: "ok" });
    expect(JSON.stringify(found)).not.toContain("a secret");
  });
});
