import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Instance, readJson, writeAtomic } from "../instance/index.ts";
import { type AccessList, type DeployKey, replaces } from "./access.ts";
import { ensureHostKey, knownHostsLine } from "./ssh.ts";

export type { Access, AccessList, DeployKey } from "./access.ts";
export { commitTo, hasPath, isMarked, listFolder, mark } from "./commit.ts";
export { BRANCH, type Published, publish } from "./repositories.ts";

/** The name under which clusters reach the Git server. */
export const GIT_HOST = "git.fleet.internal";
/** Not 22: an sshd of the machine, on all addresses, would keep it. */
export const GIT_SSH_PORT = 2222;
export const GIT_HTTP_PORT = 8080;

/** Files of the Git server; the folder also holds the bare repositories `<name>.git`. */
export function gitPaths(instance: Instance) {
  const root = instance.paths.git;
  return { root, keys: join(root, "keys.json"), hostKey: join(root, "host_key") };
}

/** A bare repository of the Git server. */
export const bareRepository = (instance: Instance, repository: string): string =>
  join(gitPaths(instance).root, `${repository}.git`);

/** The known_hosts line of the instance's Git server; makes its host key when there is none yet. */
export function gitKnownHosts(instance: Instance): string {
  const { root, hostKey } = gitPaths(instance);
  mkdirSync(root, { recursive: true });
  return knownHostsLine(`[${GIT_HOST}]:${GIT_SSH_PORT}`, ensureHostKey(hostKey));
}

/** A list with these deploy keys, each in place of its owner's for the repository (the key's comment); the rest stays. Pure. */
export function withDeployKeys(list: Partial<AccessList>, added: readonly DeployKey[]): Partial<AccessList> {
  const kept = (list.deployKeys ?? []).filter((key) => !added.some((other) => replaces(other, key)));
  return { ...list, deployKeys: [...kept, ...added] };
}

/** Registers deploy keys at the Git server, which reads them at the next login. */
export async function registerDeployKeys(instance: Instance, deployKeys: readonly DeployKey[]): Promise<void> {
  const { keys } = gitPaths(instance);
  const list = (await readJson(keys)) as Partial<AccessList> | undefined;
  await writeAtomic(keys, `${JSON.stringify(withDeployKeys(list ?? {}, deployKeys), null, 2)}\n`);
}
