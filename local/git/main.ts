// The Git server of an instance, one process under the supervisor: SSH (2222) and HTTP (8080) on the gateway address.
import { once } from "node:events";
import { findInstance } from "../instance/index.ts";
import { readAccessList } from "./access.ts";
import { createHttpServer } from "./http.ts";
import { GIT_HTTP_PORT, GIT_SSH_PORT, gitPaths } from "./index.ts";
import { createSshServer, ensureHostKey } from "./ssh.ts";

const instance = await findInstance();
if (instance === undefined) {
  console.error("there is no instance in this folder (FLEET_LOCAL_DIR): `npm start` makes one and starts this server");
  process.exit(1);
}
const paths = gitPaths(instance);
const options = {
  root: paths.root,
  accessList: () => readAccessList(paths.keys),
  log: (line: string) => console.log(`${new Date().toISOString()} ${line}`),
};
const servers = [
  createSshServer({ ...options, hostKey: ensureHostKey(paths.hostKey) }).listen(GIT_SSH_PORT, instance.gatewayAddress),
  createHttpServer(options).listen(GIT_HTTP_PORT, instance.gatewayAddress),
];
// A port that is taken ends the process: the supervisor reports it and tries again.
await Promise.all(servers.map((server) => once(server, "listening")));
options.log(`git is served on ${instance.gatewayAddress}, ports ${GIT_SSH_PORT} (SSH) and ${GIT_HTTP_PORT} (HTTP)`);
