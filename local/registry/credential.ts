import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { hash } from "bcryptjs";
import { type Instance, readJson, writeAtomic } from "../instance/index.ts";

/** Who may push, and pull where the registry is private. */
export interface RegistryCredential {
  readonly username: string;
  readonly password: string;
}

type Folder = Pick<Instance, "dir">;

/** Where the registry and its clients have their files. */
export const registryFolder = ({ dir }: Folder): string => join(dir, "registry");

const fileOf = (instance: Folder) => join(registryFolder(instance), "credential.json");

/** Folder of the Docker configuration of this machine's clients. */
export const clientFolder = (instance: Folder): string => join(registryFolder(instance), "client");

/** The file of {@link clientFolder}. */
export const clientConfig = (instance: Folder): string => join(clientFolder(instance), "config.json");

/** The registry's users, with bcrypt hashes: docker-registry takes no others (distribution, docs/about/configuration.md, htpasswd). */
export const usersFile = (instance: Folder): string => join(registryFolder(instance), "htpasswd");

/** A Docker configuration that logs in at hosts, as pull secrets hold it. */
export function dockerConfig(hosts: readonly string[], { username, password }: RegistryCredential): string {
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  return JSON.stringify({ auths: Object.fromEntries(hosts.map((host) => [host, { username, password, auth }])) });
}

/** The credential of an instance's registry, made with its list of users when there is none; this machine's clients log in at `hosts` with it. */
export async function registryCredential(instance: Folder, hosts: readonly string[]): Promise<RegistryCredential> {
  const made = await readJson<RegistryCredential>(fileOf(instance));
  const credential = made ?? { username: "fleet", password: randomBytes(24).toString("base64url") };
  await mkdir(clientFolder(instance), { recursive: true, mode: 0o700 });
  await writeAtomic(clientConfig(instance), dockerConfig(hosts, credential));
  if (made === undefined) {
    await writeAtomic(usersFile(instance), `${credential.username}:${await hash(credential.password, 10)}\n`);
    // Last: whoever finds it finds the others.
    await writeAtomic(fileOf(instance), JSON.stringify(credential));
  }
  return credential;
}
