import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Instance, readJson, writeAtomic } from "../instance/index.ts";
import type { AccessList, DeployKey } from "./access.ts";
import { ensureHostKey, knownHostsLine } from "./ssh.ts";

export type { Access, AccessList, DeployKey } from "./access.ts";
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

/** The known_hosts line of the instance's Git server; makes its host key when there is none yet. */
export function gitKnownHosts(instance: Instance): string {
  const { root, hostKey } = gitPaths(instance);
  mkdirSync(root, { recursive: true });
  return knownHostsLine(`[${GIT_HOST}]:${GIT_SSH_PORT}`, ensureHostKey(hostKey));
}

/** The deploy keys of a list replaced by these; HTTP tokens stay. */
export function withDeployKeys(list: Partial<AccessList>, deployKeys: readonly DeployKey[]): Partial<AccessList> {
  return { ...list, deployKeys: [...deployKeys] };
}

/** Registers exactly these deploy keys at the Git server, which reads them at the next login. */
export async function registerDeployKeys(instance: Instance, deployKeys: readonly DeployKey[]): Promise<void> {
  const { keys } = gitPaths(instance);
  const list = (await readJson(keys)) as Partial<AccessList> | undefined;
  await writeAtomic(keys, `${JSON.stringify(withDeployKeys(list ?? {}, deployKeys), null, 2)}\n`);
}
