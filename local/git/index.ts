import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ensureAuthority, keyFiles } from "../clusters/pki.ts";
import { type Instance, readJson, writeAtomic } from "../instance/index.ts";
import { type AccessList, type App, type DeployKey, isSameKey, replaces, type Token } from "./access.ts";
import { ensureHostKey, knownHostsLine } from "./ssh.ts";

export type { AccessList, DeployKey } from "./access.ts";
export { commitTo, hasPath, isMarked, listFolder, mark } from "./commit.ts";
export { createHttpServer } from "./http.ts";
export { BRANCH, ensureRepository, git, publish, writeTree } from "./repositories.ts";
export { createSshServer, knownHostsLine, newPrivateKey } from "./ssh.ts";
export { stageSource } from "./stage.ts";
export { callOf, readWebhooks, registerWebhooks, type Webhook } from "./webhooks.ts";

/** The name under which clusters reach the Git server. */
export const GIT_HOST = "git.fleet.internal";
/** Not 22: an sshd of the machine, on all addresses, would keep it. */
export const GIT_SSH_PORT = 2222;
export const GIT_HTTPS_PORT = 8443;

/** Files of the Git server; the folder also holds the bare repositories `<name>.git`. */
export function gitPaths(instance: Instance) {
  const root = instance.paths.git;
  const authority = join(root, "ca");
  return {
    root,
    keys: join(root, "keys.json"),
    hostKey: join(root, "host_key"),
    authority,
    tls: keyFiles(authority, GIT_HOST),
    /** What is called after a push, with the secrets of these calls. */
    webhooks: join(root, "webhooks.json"),
    /** What people keep to themselves: tokens, and the private keys of GitHub Apps. */
    credentials: join(root, "credentials"),
  };
}

/** The CA that signs the Git server's certificate (PEM); made when there is none. Only clients that are given it trust it. */
export async function gitAuthority(instance: Instance): Promise<string> {
  const authority = await ensureAuthority(
    gitPaths(instance).authority,
    "ca",
    "Git server of an eks-gitops-fleet instance",
  );
  await authority.issue(GIT_HOST, { commonName: GIT_HOST, addresses: [GIT_HOST, instance.gatewayAddress] });
  return authority.certificate;
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

/** A list with the added entries, each in place of those that it replaces. */
const replaced = <T>(entries: readonly T[] = [], added: readonly T[], replaces: (a: T, b: T) => boolean): T[] => [
  ...entries.filter((entry) => !added.some((one) => replaces(one, entry))),
  ...added,
];

/** A list with these deploy keys, each in place of its owner's for the repository (the key's comment); the rest stays. */
export const withDeployKeys = (list: Partial<AccessList>, added: readonly DeployKey[]): Partial<AccessList> => ({
  ...list,
  deployKeys: replaced(list.deployKeys, added, replaces),
});

/** A list with these tokens, each in place of the user's former for the repository. */
export const withTokens = (list: Partial<AccessList>, added: readonly Token[]): Partial<AccessList> => ({
  ...list,
  tokens: replaced(list.tokens, added, (a, b) => a.repository === b.repository && a.username === b.username),
});

/** A list with this app in place of the former with its ID. */
export const withApp = (list: Partial<AccessList>, app: App): Partial<AccessList> => ({
  ...list,
  apps: replaced(list.apps, [app], (a, b) => a.id === b.id),
});

/** Changes the access list of the Git server, which reads it at every login. */
export async function changeAccess(
  instance: Instance,
  change: (list: Partial<AccessList>) => Partial<AccessList>,
): Promise<void> {
  const { keys } = gitPaths(instance);
  const list = (await readJson(keys)) as Partial<AccessList> | undefined;
  await writeAtomic(keys, `${JSON.stringify(change(list ?? {}), null, 2)}\n`);
}

/** Registers deploy keys at the Git server. */
export const registerDeployKeys = (instance: Instance, deployKeys: readonly DeployKey[]): Promise<void> =>
  changeAccess(instance, (list) => withDeployKeys(list, deployKeys));

/** A list without a deploy key; the rest stays. */
export const withoutDeployKey = (list: Partial<AccessList>, repository: string, publicKey: string) => ({
  ...list,
  deployKeys: (list.deployKeys ?? []).filter(
    (key) => key.repository !== repository || !isSameKey(key.publicKey, publicKey),
  ),
});

/** Removes a deploy key from the Git server. @returns whether it was registered */
export async function removeDeployKey(instance: Instance, repository: string, publicKey: string): Promise<boolean> {
  let isRemoved = false;
  await changeAccess(instance, (list) => {
    const changed = withoutDeployKey(list, repository, publicKey);
    isRemoved = changed.deployKeys.length !== (list.deployKeys ?? []).length;
    return changed;
  });
  return isRemoved;
}
