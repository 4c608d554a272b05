import { createHash, createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Instance, readText, writeAtomic } from "../instance/index.ts";
import { changeAccess, gitPaths, withApp, withTokens } from "./index.ts";

/** Tokens and GitHub Apps of the instance's Git server, as a person makes them at a Git host: made once, kept in files, registered. */

async function kept(instance: Instance, name: string, make: () => string): Promise<string> {
  const { credentials } = gitPaths(instance);
  await mkdir(credentials, { recursive: true, mode: 0o700 });
  const file = join(credentials, name);
  const found = await readText(file);
  if (found !== undefined) return found;
  const made = make();
  await writeAtomic(file, made, 0o600);
  return made;
}

/** A token that may read some repositories, for a user of this name. */
export async function gitToken(instance: Instance, username: string, repositories: readonly string[]): Promise<string> {
  const token = await kept(instance, `${username}.token`, () => randomBytes(24).toString("base64url"));
  const sha256 = createHash("sha256").update(token).digest("hex");
  const tokens = repositories.map((repository) => ({ repository, username, sha256, access: "read" as const }));
  await changeAccess(instance, (list) => withTokens(list, tokens));
  return token;
}

export interface GithubApp {
  readonly id: number;
  readonly installationId: number;
  /** PEM. */
  readonly privateKey: string;
}

/** A GitHub App with one installation that may read some repositories. */
export async function githubApp(instance: Instance, id: number, repositories: readonly string[]): Promise<GithubApp> {
  const privateKey = await kept(instance, `app-${id}.pem`, () =>
    // PKCS #1, as GitHub gives them.
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "pem", type: "pkcs1" }).toString(),
  );
  const publicKey = createPublicKey(privateKey).export({ format: "pem", type: "spki" }).toString();
  const installationId = id + 1000;
  await changeAccess(instance, (list) =>
    withApp(list, { id, installationId, publicKey, repositories: [...repositories], access: "read" }),
  );
  return { id, installationId, privateKey };
}
