import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { REGION } from "@eks-gitops-fleet/local/gateway";
import { type Credentials, type Layout, makeProject, type Project } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { root } from "../../support/process.ts";

/** A copy of the stack beside what it imports: Pulumi writes its configuration and its salt into the project's folder. */
const layout: Layout = async (folder) => {
  await cp(join(root, "infra"), join(folder, "infra"), { recursive: true });
  for (const entry of ["components", "lib", "node_modules", "package.json", "repos"])
    await symlink(join(root, entry), join(folder, entry));
  return join(folder, "infra", "account");
};

/** The stack of an account besides the hub's (infra/account) for the fleet `fleet`, configured as its README says; nothing is deployed yet. */
export async function accountStack(
  endpoint: string,
  credentials: Credentials | undefined,
  {
    account,
    secretsKeyArn,
    more = {},
  }: {
    readonly account: string;
    readonly secretsKeyArn: string;
    /** Further keys, by their paths. */
    readonly more?: Readonly<Record<string, string>>;
  },
): Promise<Project> {
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
    AWS_REGION: REGION,
  };
  const project = await makeProject((await ensureToolchain()).bin("pulumi"), environment, layout);
  const set = (...args: string[]) => project.command("config", "set", ...args);
  await set("aws:region", REGION);
  await set("fleet", "fleet");
  for (const [path, value] of Object.entries(more)) await set("--path", path, value);
  // Pulumi takes the ID of a key for a secret.
  await set("--plaintext", "secretsKeyArn", secretsKeyArn);
  await set("--path", "aws:allowedAccountIds[0]", account);
  return project;
}
