/** A real API server with etcd and controllers, without nodes, on loopback addresses of its own: enough for everything but running pods. */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Toolchain } from "../../toolchain/index.ts";

/** A running control plane. */
export interface ControlPlane {
  /** Content of a kubeconfig whose credentials come from an exec plugin. */
  readonly kubeconfig: string;
  /** Path of the same as a file. */
  readonly kubeconfigFile: string;
  readonly token: string;
  readonly dir: string;
  /** Its own loopback address; on port 6443 of it is the API server. */
  readonly address: string;
  /** Ends the API server and starts it again under the same address. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  stop(): Promise<void>;
}

const READY_SECONDS = 60;

/** Starts one; everything is in a temporary folder. */
export async function startControlPlane(toolchain: Pick<Toolchain, "bin">): Promise<ControlPlane> {
  const dir = await mkdtemp(path.join(tmpdir(), "fleet-control-plane-"));
  const file = (name: string) => path.join(dir, name);
  // An address of its own in 127/8 for every test process: fixed ports then never collide.
  const address = `127.101.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;
  const token = randomBytes(24).toString("hex");
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const server = `https://${address}:6443`;
  await writeFile(file("sa.key"), keys.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(file("sa.pub"), keys.publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(file("tokens.csv"), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  await writeFile(file("credential.sh"), credentialScript(file("token")), { mode: 0o700 });
  await writeFile(file("token"), token, { mode: 0o600 });
  const controller = kubeconfig(server, { token });
  await writeFile(file("controller.kubeconfig"), controller, { mode: 0o600 });

  const running = new Map<string, ChildProcess>();
  const start = (name: string, args: readonly string[]) => {
    const log = openSync(file(`${name}.log`), "a");
    const child = spawn(toolchain.bin(name), args, { stdio: ["ignore", log, log], cwd: dir });
    closeSync(log);
    running.set(name, child);
  };
  const end = async (name: string) => {
    const child = running.get(name);
    running.delete(name);
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  };
  const startApiServer = async () => {
    start("kube-apiserver", [
      `--etcd-servers=http://${address}:2379`,
      `--bind-address=${address}`,
      `--advertise-address=${address}`,
      "--secure-port=6443",
      `--cert-dir=${file("certs")}`,
      `--token-auth-file=${file("tokens.csv")}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.213.0.0/24",
      `--service-account-key-file=${file("sa.pub")}`,
      `--service-account-signing-key-file=${file("sa.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      "--endpoint-reconciler-type=none",
    ]);
    await ready(server, token, () => readFile(file("kube-apiserver.log"), "utf8"));
  };
  const stop = async () => {
    for (const name of ["kube-controller-manager", "kube-apiserver", "etcd"]) await end(name);
    await rm(dir, { recursive: true, force: true });
  };
  start("etcd", [
    "--data-dir=etcd",
    `--listen-client-urls=http://${address}:2379`,
    `--advertise-client-urls=http://${address}:2379`,
    `--listen-peer-urls=http://${address}:2380`,
    `--initial-advertise-peer-urls=http://${address}:2380`,
    `--initial-cluster=default=http://${address}:2380`,
    "--unsafe-no-fsync",
  ]);
  try {
    await startApiServer();
  } catch (error) {
    await stop();
    throw error;
  }
  start("kube-controller-manager", [
    `--kubeconfig=${file("controller.kubeconfig")}`,
    `--bind-address=${address}`,
    `--cert-dir=${file("certs")}`,
    `--service-account-private-key-file=${file("sa.key")}`,
    "--leader-elect=false",
    "--use-service-account-credentials=false",
  ]);
  const content = kubeconfig(server, { exec: file("credential.sh") });
  await writeFile(file("kubeconfig"), content, { mode: 0o600 });
  return {
    kubeconfig: content,
    kubeconfigFile: file("kubeconfig"),
    token,
    dir,
    address,
    startApiServer,
    stopApiServer: () => end("kube-apiserver"),
    stop,
  };
}

function credentialScript(tokenFile: string): string {
  const credential = '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}';
  return `#!/bin/sh\nprintf '${credential}' "$(cat '${tokenFile}')"\n`;
}

function kubeconfig(server: string, user: { token: string } | { exec: string }): string {
  const credentials =
    "token" in user
      ? { token: user.token }
      : { exec: { apiVersion: "client.authentication.k8s.io/v1", command: user.exec, interactiveMode: "Never" } };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "it", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "admin", user: credentials }],
    contexts: [{ name: "it", context: { cluster: "it", user: "admin" } }],
    "current-context": "it",
  });
}

async function ready(server: string, token: string, log: () => Promise<string>): Promise<void> {
  const { Agent, request } = await import("node:https");
  const agent = new Agent({ rejectUnauthorized: false });
  const ask = () =>
    new Promise<number>((resolve) => {
      const options = { agent, headers: { authorization: `Bearer ${token}` } };
      const call = request(`${server}/readyz`, options, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      // Not listening yet.
      call.on("error", () => resolve(0));
      call.end();
    });
  for (let tries = 0; tries < READY_SECONDS * 2; tries++) {
    if ((await ask()) === 200) return;
    await sleep(500);
  }
  throw new Error(`the API server was not ready within ${READY_SECONDS} s:\n${(await log()).slice(-3000)}`);
}
