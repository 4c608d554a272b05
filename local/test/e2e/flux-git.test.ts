/** Flux's own source-controller on a real API server, reading the local Git server over HTTPS: what it asks of a credential. No cluster. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureAuthority } from "../../clusters/pki.ts";
import type { AccessList } from "../../git/access.ts";
import { createHttpServer } from "../../git/http.ts";
import { publish } from "../../git/repositories.ts";
import { moduleDir } from "../../toolchain/go.ts";
import { ensureToolchain, type Toolchain } from "../../toolchain/index.ts";
import { type ControlPlane, startControlPlane } from "../support/control-plane.ts";

const base = mkdtempSync(join(tmpdir(), "fleet-flux-git-"));
const controllerLog = join(base, "source-controller.log");
const app = generateKeyPairSync("rsa", { modulusLength: 2048 });
const privateKey = app.privateKey.export({ format: "pem", type: "pkcs1" }).toString();
const list: AccessList = {
  deployKeys: [],
  tokens: [
    {
      repository: "one",
      username: "flux",
      sha256: createHash("sha256").update("t0ps3cret").digest("hex"),
      access: "read",
    },
  ],
  apps: [
    {
      id: 7,
      installationId: 70,
      publicKey: app.publicKey.export({ format: "pem", type: "spki" }).toString(),
      repositories: ["one"],
      access: "read",
    },
  ],
};

let toolchain: Toolchain;
let cluster: ControlPlane;
let controller: ChildProcess;
let server: Server;
let origin = "";
let authority = "";

const kubectl = async (args: readonly string[]) => {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigFile };
  return (await promisify(execFile)(toolchain.bin("kubectl"), args, { env })).stdout;
};
async function apply(...objects: readonly object[]) {
  const file = join(base, "objects.json");
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  await kubectl(["apply", "--filename", file]);
}

beforeAll(async () => {
  toolchain = await ensureToolchain();
  const root = join(base, "git");
  mkdirSync(root);
  for (const name of ["one", "two"]) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, "README.md"), name);
    publish(join(root, `${name}.git`), join(base, name), name);
  }
  const own = await ensureAuthority(join(base, "ca"), "ca", "test");
  authority = own.certificate;
  const files = await own.issue("git", { commonName: "git", addresses: ["127.0.0.1"] });
  const tls = { cert: readFileSync(files.certificate, "utf8"), key: readFileSync(files.key, "utf8") };
  server = createHttpServer({ root, accessList: () => list, hostKey: "host key", tls, log: () => {} });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  cluster = await startControlPlane(toolchain);
  await kubectl([
    "apply",
    "--server-side",
    "--filename",
    join(moduleDir("github.com/fluxcd/source-controller"), "config", "crd", "bases"),
  ]);
  // source-controller indexes its kinds when it starts, and exits if the API server doesn't serve them yet.
  await kubectl(["wait", "crd", "--all", "--for=condition=Established", "--timeout=60s"]);
  const log = openSync(controllerLog, "a");
  const addresses = ["metrics", "health", "storage"].map(
    (name, index) => `--${name}-addr=${cluster.address}:${18081 + index}`,
  );
  const flags = [
    ...addresses,
    `--storage-adv-addr=${cluster.address}:18083`,
    `--storage-path=${base}`,
    "--events-addr=",
  ];
  controller = spawn(toolchain.bin("source-controller"), [...flags, "--max-retry-delay=2s"], {
    stdio: ["ignore", log, log],
    env: { ...process.env, KUBECONFIG: cluster.kubeconfigFile, RUNTIME_NAMESPACE: "default" },
  });
  closeSync(log);
});
afterAll(async () => {
  controller?.kill("SIGKILL");
  await cluster?.stop();
  server?.closeAllConnections();
  await new Promise((done) => server?.close(done));
  rmSync(base, { recursive: true });
});

let made = 0;
/** What Flux says of a repository that it reads with these members of a Secret. */
async function read(provider: "generic" | "github", data: Readonly<Record<string, string>>, repository = "one") {
  made += 1;
  const metadata = { name: `source-${made}`, namespace: "default" };
  const spec = {
    url: `${origin}/${repository}.git`,
    ref: { branch: "main" },
    provider,
    secretRef: { name: metadata.name },
    interval: "1h",
  };
  await apply(
    { apiVersion: "v1", kind: "Secret", metadata, stringData: data },
    { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository", metadata, spec },
  );
  return vi.waitFor(
    async () => {
      if (controller.exitCode !== null) return { status: "exited", message: readFileSync(controllerLog, "utf8") };
      const { status = {} } = JSON.parse(await kubectl(["get", "gitrepository", metadata.name, "--output", "json"]));
      const ready = (status.conditions ?? []).find(({ type }: { type: string }) => type === "Ready");
      if (ready === undefined || ready.status === "Unknown") throw new Error(`not judged: ${JSON.stringify(status)}`);
      return ready as { status: string; message: string };
    },
    { timeout: 120_000, interval: 500 },
  );
}

const token = { username: "flux", password: "t0ps3cret" };
const githubApp = () => ({
  githubAppID: "7",
  githubAppInstallationID: "70",
  githubAppPrivateKey: privateKey,
  githubAppBaseURL: `${origin}/api/v3`,
  "ca.crt": authority,
});

describe("Flux reads Git over HTTPS", () => {
  test("with a token, and the authority behind the host's certificate", async () => {
    expect(await read("generic", { ...token, "ca.crt": authority })).toMatchObject({ status: "True" });
  });

  test("as a GitHub App, whose key it exchanges for a token at the server", async () => {
    expect(await read("github", githubApp())).toMatchObject({ status: "True" });
  });

  test.each<[string, () => ReturnType<typeof read>, RegExp]>([
    ["without the authority", () => read("generic", token), /certificate|x509/],
    ["with a wrong token", () => read("generic", { ...token, password: "x", "ca.crt": authority }), /authentication/],
    [
      "with the token of another repository",
      () => read("generic", { ...token, "ca.crt": authority }, "two"),
      /repository not found/,
    ],
    ["as an app that the source does not name", () => read("generic", githubApp()), /provider is not set to github/],
    ["as an app that the server does not know", () => read("github", { ...githubApp(), githubAppID: "8" }), /401/],
    ["as an app in a repository that is not its own", () => read("github", githubApp(), "two"), /repository not found/],
  ])("and not %s", async (_what, attempt, message) => {
    expect(await attempt()).toMatchObject({ status: "False", message: expect.stringMatching(message) });
  });
});
