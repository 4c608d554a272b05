// `deploy-key [--write|--remove] <repository> <public key>`: registers a deploy key at the instance's Git server, read-only or with write
// access, or removes one, as one does at a Git host.
import { existsSync } from "node:fs";
import { currentInstance } from "../instance/index.ts";
import { bareRepository, gitPaths, registerDeployKeys, removeDeployKey } from "./index.ts";

const [isWriting, isRemoval] = ["--write", "--remove"].map((flag) => process.argv[2] === flag);
const [repository = "", ...words] = process.argv.slice(isWriting || isRemoval ? 3 : 2);
const publicKey = words.join(" ").trim();
const owner = publicKey.split(" ").slice(2).join(" ");
const instance = await currentInstance();
const problem = !existsSync(bareRepository(instance, repository))
  ? `there is no repository '${repository}' in ${gitPaths(instance).root}`
  : !/^ssh-ed25519 [A-Za-z0-9+/]+=* \S/.test(publicKey)
    ? `no public key with a comment in OpenSSH form: '${publicKey}'`
    : isRemoval && !(await removeDeployKey(instance, repository, publicKey))
      ? `this key opens nothing of ${repository}: '${publicKey}'`
      : undefined;
if (problem !== undefined) {
  console.error(`${problem}\nusage: deploy-key [--write|--remove] <repository> 'ssh-ed25519 AAAA… <whose it is>'`);
  process.exit(2);
}
const access = isWriting ? "read-write" : "read";
if (!isRemoval) await registerDeployKeys(instance, [{ repository, publicKey, access }]);
console.log(`${owner} may ${isRemoval ? "no longer read" : isWriting ? "read and write" : "read"} ${repository}`);
