import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AccessList,
  createHttpServer,
  createSshServer,
  newPrivateKey,
  publish,
} from "@eks-gitops-fleet/local/git";
import { runner } from "../../../../cli/doctor/process.ts";

/** The local stack's Git server with both repositories, reached by the real git, ssh and ssh-agent; what a test lets in is in `access`. */
export async function gitServer() {
  const base = mkdtempSync(join(tmpdir(), "fleet-doctor-git-"));
  const [root, content, temporary] = ["git", "content", "tmp"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [root, content, temporary]) mkdirSync(folder);
  writeFileSync(join(content, "README.md"), "# system\n");
  for (const name of ["gitops-system", "gitops-workloads"]) publish(join(root, `${name}.git`), content, "first");

  const access: AccessList = { deployKeys: [], tokens: [], apps: [] };
  const hostKey = newPrivateKey("host");
  const options = { root, hostKey, accessList: () => access, log: () => {} };
  const closed: (() => Promise<void>)[] = [];
  const listen = async (server: Server | ReturnType<typeof createSshServer>) => {
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", () => ready()));
    closed.push(async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const serveHttp = (tls?: { readonly cert: string; readonly key: string }) =>
    listen(createHttpServer({ ...options, ...(tls && { tls }) }));
  return {
    base,
    /** Folder of temporary files, which the doctor leaves empty. */
    temporary,
    access,
    hostKey,
    run: runner(base, { ...process.env, TMPDIR: temporary, SSH_AUTH_SOCK: "" }),
    sshHost: await listen(createSshServer(options)),
    httpHost: await serveHttp(),
    serveHttp,
    async close() {
      await Promise.all(closed.map((close) => close()));
      rmSync(base, { recursive: true });
    },
  };
}
