import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { REGION } from "@eks-gitops-fleet/local/gateway";
import { type Credentials, type Layout, makeProject, type Project } from "@eks-gitops-fleet/local/test";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { root } from "../../support/process.ts";

/** A copy of a project below infra/ beside what it imports: Pulumi writes its configuration and its salt into the project's folder. */
const layoutOf =
  (name: string): Layout =>
  async (folder) => {
    await cp(join(root, "infra"), join(folder, "infra"), { recursive: true });
    for (const entry of ["components", "lib", "node_modules", "package.json", "repos"])
      await symlink(join(root, entry), join(folder, entry));
    return join(folder, "infra", name);
  };

/** A stack of infra/<name> for the fleet `fleet` in an account; nothing is deployed yet. */
export async function ownStack(
  name: string,
  endpoint: string,
  credentials: Credentials | undefined,
  account: string,
): Promise<Project> {
  const environment = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
    AWS_REGION: REGION,
  };
  const project = await makeProject((await ensureToolchain()).bin, environment, layoutOf(name));
  await project.command("config", "set", "aws:region", REGION);
  await project.command("config", "set", "fleet", "fleet");
  await project.command("config", "set", "--path", "aws:allowedAccountIds[0]", account);
  return project;
}

/** The stack of an account besides the hub's (infra/account), configured as its README says. */
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
  const project = await ownStack("account", endpoint, credentials, account);
  for (const [path, value] of Object.entries(more)) await project.command("config", "set", "--path", path, value);
  // Pulumi takes the ID of a key for a secret.
  await project.command("config", "set", "--plaintext", "secretsKeyArn", secretsKeyArn);
  return project;
}
