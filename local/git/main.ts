// The Git server of an instance, one process under the supervisor: SSH (2222) and HTTPS (8443) on the gateway address.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { currentInstance } from "../instance/index.ts";
import { readAccessList } from "./access.ts";
import { createHttpServer } from "./http.ts";
import { GIT_HTTPS_PORT, GIT_SSH_PORT, gitPaths } from "./index.ts";
import { watchPushes } from "./pushes.ts";
import { createSshServer, ensureHostKey } from "./ssh.ts";
import { callWebhooks, readWebhooks } from "./webhooks.ts";

const instance = await currentInstance();
const paths = gitPaths(instance);
const { tls, hostKey: hostKeyFile } = paths;
const hostKey = ensureHostKey(hostKeyFile);
const options = {
  root: paths.root,
  accessList: () => readAccessList(paths.keys),
  log: (line: string) => console.log(`${new Date().toISOString()} ${line}`),
};
const servers = [
  createSshServer({ ...options, hostKey }).listen(GIT_SSH_PORT, instance.gatewayAddress),
  createHttpServer({
    ...options,
    hostKey,
    tls: { cert: readFileSync(tls.certificate, "utf8"), key: readFileSync(tls.key, "utf8") },
  }).listen(GIT_HTTPS_PORT, instance.gatewayAddress),
];
// A port that is taken ends the process: the supervisor reports it and tries again.
await Promise.all(servers.map((server) => once(server, "listening")));
options.log(`git is served on ${instance.gatewayAddress}, ports ${GIT_SSH_PORT} (SSH) and ${GIT_HTTPS_PORT} (HTTPS)`);
watchPushes(paths.root, (push) => {
  try {
    void callWebhooks(readWebhooks(paths.webhooks), push, options.log);
  } catch (error) {
    options.log(String(error)); // the file can't be read: a push is not refused for that
  }
});
