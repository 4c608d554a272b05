/** The policy pack in the real engine, on previews without a cluster, on the running hub, and on a small program at its update. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { cloudEnvironment } from "@eks-gitops-fleet/local/cli";
import { makeProject, type Project } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { succeeds } from "../support/process.ts";
import { cli, instance, root, tryPulumi } from "./support/fleet.ts";

const pack = path.join(root, "policies");
const passed = "✅ eks-gitops-fleet@v0.1.0";

/** `npm run preview -- <stack> --policy-pack policies`. */
const preview = (stack: string, ...flags: string[]) =>
  cli("preview.ts", [stack, "--policy-pack", "policies", ...flags]);

describe("npm run preview with the policy pack", () => {
  // The running hub below is the stack local.
  test.each(["dev", "prod"])("the shipped program passes as %s, with everything mandatory", async (stack) => {
    const stdout = await succeeds(preview(stack));
    expect(stdout).toContain(passed);
    expect(stdout).not.toContain("can't run policy");
  });

  test("a violation fails the preview and names the policy, the resource and what to do", async () => {
    const { code, stdout } = await preview("prod", "--config", "eks-gitops-fleet:deletionProtection=false");
    expect(code).not.toBe(0);
    expect(stdout).toContain("[mandatory]  eks-deletion-protection  (aws:eks:Cluster: hub-eksCluster)");
    expect(stdout).toContain("deletionProtection is off in environment prod: set it to true");
    expect(stdout.match(/\[mandatory\]/g)).toHaveLength(1);
  });

  test("a configuration sets parameters and levels: what is advisory is said and stops nothing", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "policies-"));
    const config = path.join(folder, "policies.json");
    try {
      await writeFile(
        config,
        JSON.stringify({
          "kms-deletion-window": { minimumDays: 30, enforcementLevel: "advisory" },
          "tags-required": "disabled",
        }),
      );
      const stdout = await succeeds(preview("dev", "--policy-pack-config", config));
      expect(stdout).toContain("[advisory]  kms-deletion-window  (aws:kms:Key: secrets-key)");
      expect(stdout).toContain("deletionWindowInDays is 7: at least 30 days must remain to keep the key");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test("the running hub passes, with every value known", async () => {
  const stdout = await succeeds(tryPulumi(["preview", "--policy-pack", pack, "--expect-no-changes"]));
  expect(stdout).toContain(passed);
});

describe("a value that the preview does not know", () => {
  const program = (subject: string) => `
import * as aws from "@pulumi/aws";
import * as tls from "@pulumi/tls";
const issuer = "oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";
// Stands for an issuer that is known when its cluster is there: the text depends on an output.
const key = new tls.PrivateKey("key", { algorithm: "ED25519" });
const tags = { "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "hub", environment: "dev" };
new aws.iam.Role("reader", {
  name: "fleet-hub-reader",
  assumeRolePolicy: key.id.apply(() => JSON.stringify({ Version: "2012-10-17", Statement: [{
    Effect: "Allow", Principal: { Federated: "arn:aws:iam::000000000000:oidc-provider/" + issuer },
    Action: "sts:AssumeRoleWithWebIdentity",
    Condition: { StringEquals: { [issuer + ":sub"]: "${subject}", [issuer + ":aud"]: "sts.amazonaws.com" } },
  }] })),
  tags,
});
`;
  const stopped = "StringEquals must name one service account, system:serviceaccount:<namespace>:<name>";

  let project: Project;
  beforeAll(async () => {
    const toolchain = await ensureToolchain();
    project = await makeProject(toolchain.bin, cloudEnvironment(instance));
    await project.command("config", "set", "aws:region", "us-east-1");
  });
  afterAll(() => project?.remove());

  test("passes the preview and is decided at the update, before the resource is made", async () => {
    await project.write(program("system:serviceaccount:shop:*"));
    const before = await project.run("preview", "--policy-pack", pack);
    expect(before.code, before.text).toBe(0);
    const update = await project.run("up", "--policy-pack", pack);
    expect(update.code).not.toBe(0);
    expect(update.text).toContain("iam-irsa-trust");
    expect(update.text).toContain(stopped);
    expect(await project.state()).not.toContain("fleet-hub-reader");
  });

  test("is known from then on: the next preview is stopped", async () => {
    await expect(project.command("preview", "--stack", "test", "--policy-pack", pack)).rejects.toThrow(stopped);
    await project.write(program("system:serviceaccount:shop:reader"));
    const said = await project.command("preview", "--stack", "test", "--policy-pack", pack).catch(String);
    expect(said).toContain("aws:iam:Role");
    expect(said).not.toContain("iam-irsa-trust");
  });
});
