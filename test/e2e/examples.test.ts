/** The programs of examples/ against the real Pulumi engine: they need an AWS account, and no hub. */

import { cp, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type Layout, makeProject } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { expect, test } from "vitest";
import { account, instance, root } from "./support/fleet.ts";

/** A copy of an example beside what it imports: Pulumi writes its salt into the file of the stack. */
const example =
  (name: string): Layout =>
  async (folder) => {
    const home = join(folder, "examples", name);
    await cp(join(root, "examples", name), home, { recursive: true });
    await rename(join(home, "Pulumi.example.yaml"), join(home, "Pulumi.test.yaml"));
    for (const entry of ["components", "lib", "node_modules", "package.json"])
      await symlink(join(root, entry), join(folder, entry));
    return home;
  };

test.each([
  ["hub-cluster", 48],
  ["sealing-keys", 20],
  ["workload-role", 4],
])("a preview of %s makes %i resources, and asks for no more than its configuration", async (name, resources) => {
  const { accessKeyId, secretAccessKey } = await account.iam.config.credentials();
  const toolchain = await ensureToolchain();
  const env = {
    AWS_ENDPOINT_URL: instance.awsEndpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const project = await makeProject(toolchain.bin, env, example(name));
  try {
    const { code, changes, text } = await project.run("preview");
    expect(code, text).toBe(0);
    expect(changes).toEqual({ create: resources });
  } finally {
    await project.remove();
  }
});
