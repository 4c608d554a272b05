// `deploy-key <repository> <public key>`: registers a read-only deploy key at the instance's Git server, as one does at a Git host.
import { existsSync } from "node:fs";
import { currentInstance } from "../instance/index.ts";
import { bareRepository, gitPaths, registerDeployKeys } from "./index.ts";

const [repository = "", ...words] = process.argv.slice(2);
const publicKey = words.join(" ").trim();
const instance = await currentInstance();
const problem = !existsSync(bareRepository(instance, repository))
  ? `there is no repository '${repository}' in ${gitPaths(instance).root}`
  : !/^ssh-ed25519 [A-Za-z0-9+/]+=* \S/.test(publicKey)
    ? `no public key with a comment in OpenSSH form: '${publicKey}'`
    : undefined;
if (problem !== undefined) {
  console.error(`${problem}\nusage: deploy-key <repository> 'ssh-ed25519 AAAA… <whose it is>'`);
  process.exit(2);
}
await registerDeployKeys(instance, [{ repository, publicKey, access: "read" }]);
console.log(`${publicKey.split(" ").slice(2).join(" ")} may read ${repository}`);
