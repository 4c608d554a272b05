import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import type { BuiltArgocd } from "@eks-gitops-fleet/local/toolchain";

/** Argo CD of the hub, as processes on this machine: its application controller, ApplicationSet controller and repository server. */

/** The programs that argocd is, by the name under which it is called. */
const names = [
  ...["argocd-application-controller", "argocd-applicationset-controller"],
  ...["argocd-git-ask-pass", "argocd-k8s-auth", "argocd-repo-server"],
] as const;
type Name = (typeof names)[number] | "argocd-redis";

const ports = {
  redis: 16_379,
  repoServer: 18_081,
  repoMetrics: 18_084,
  metrics: 18_080,
  probes: 18_085,
  webhook: 17_000,
};

export interface ArgocdArgs {
  readonly built: BuiltArgocd;
  /** Folder for what the processes write. */
  readonly dir: string;
  /** kubeconfig of the hub as the service account of Argo CD. */
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Address to listen at, which nothing else uses. */
  readonly address: string;
  /** The role that the hub's bridge names, and a file with a token of the service account for STS. */
  readonly roleArn: string;
  readonly tokenFile: string;
  /** Where AWS's names are, by HTTPS, whose certificates `caBundle` proves. */
  readonly aws: { readonly address: string; readonly caBundle: string; readonly region: string };
  /** Networks that are reached directly: the API servers'. */
  readonly direct: readonly string[];
}

export interface Argocd {
  /** @throws the last words of a process that has ended */
  check(): void;
  stop(): Promise<void>;
}

/**
 * A proxy to whom AWS's names are those of the embedded cloud, as its DNS has it inside clusters: Argo CD signs in with the AWS SDK for Go v1,
 * which reads no endpoint from its environment.
 */
async function awsProxy(address: string): Promise<Server> {
  const proxy = createServer((_, response) => response.writeHead(405).end());
  proxy.on("connect", ({ url = "" }, client, head) => {
    client.on("error", () => client.destroy());
    if (!/^[a-z0-9.-]+\.amazonaws\.com:443$/.test(url)) {
      client.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    const upstream = connect(443, address, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  return proxy;
}

/** Starts Argo CD against the hub, which has its kinds, settings and service account already. */
export async function startArgocd(args: ArgocdArgs): Promise<Argocd> {
  const { programs } = args.built;
  const file = (name: string) => join(args.dir, name);
  const bin = file("bin");
  mkdirSync(bin, { recursive: true });
  for (const name of names) symlinkSync(join(programs, "argocd"), join(bin, name));
  for (const name of ["argocd-redis", "kustomize"]) symlinkSync(join(programs, name), join(bin, name));
  for (const folder of ["tls", "ssh", "gpg"]) mkdirSync(file(folder), { recursive: true });
  writeFileSync(file("ssh/ssh_known_hosts"), "");
  const proxy = await awsProxy(args.aws.address);
  const at = (port: number) => `${args.address}:${port}`;
  const env = {
    HOME: args.dir,
    TMPDIR: args.dir,
    PATH: `${bin}:${process.env["PATH"]}`,
    KUBECONFIG: args.kubeconfig,
    NAMESPACE: args.namespace,
    ARGOCD_ASK_PASS_SOCK: file("ask-pass.sock"),
    ARGOCD_GPG_ENABLED: "false",
    ARGOCD_TLS_DATA_PATH: file("tls"),
    ARGOCD_SSH_DATA_PATH: file("ssh"),
    // What the Pod Identity Webhook of EKS gives the pods of the service account.
    AWS_ROLE_ARN: args.roleArn,
    AWS_WEB_IDENTITY_TOKEN_FILE: args.tokenFile,
    AWS_REGION: args.aws.region,
    AWS_STS_REGIONAL_ENDPOINTS: "regional",
    AWS_CA_BUNDLE: args.aws.caBundle,
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    NO_PROXY: ["127.0.0.0/8", ...args.direct].join(","),
  };
  const running = new Map<Name, ChildProcess>();
  const start = (name: Name, flags: readonly string[]) => {
    const log = openSync(file(`${name}.log`), "a");
    running.set(name, spawn(join(bin, name), flags, { cwd: args.dir, stdio: ["ignore", log, log], env }));
    closeSync(log);
  };
  const common = ["--kubeconfig", args.kubeconfig, "--namespace", args.namespace];
  const redis = ["--redis", at(ports.redis)];
  start("argocd-redis", [at(ports.redis)]);
  start("argocd-repo-server", [
    ...redis,
    ...["--address", args.address, "--port", String(ports.repoServer)],
    ...["--metrics-address", args.address, "--metrics-port", String(ports.repoMetrics)],
  ]);
  start("argocd-applicationset-controller", [
    ...common,
    ...["--argocd-repo-server", at(ports.repoServer), "--metrics-addr", at(ports.metrics)],
    ...["--probe-addr", at(ports.probes), "--webhook-addr", at(ports.webhook)],
  ]);
  start("argocd-application-controller", [
    ...common,
    ...redis,
    ...["--repo-server", at(ports.repoServer), "--metrics-port", "0", "--app-resync", "10"],
  ]);
  return {
    check: () => {
      for (const [name, { exitCode, signalCode }] of running)
        if (exitCode !== null || signalCode !== null)
          throw new Error(`${name} has ended: ${readFileSync(file(`${name}.log`), "utf8").slice(-3000)}`);
    },
    stop: async () => {
      for (const child of running.values()) await end(child);
      proxy.closeAllConnections();
      await new Promise((closed) => proxy.close(closed));
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}
