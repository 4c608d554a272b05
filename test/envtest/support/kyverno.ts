import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GO_ENVIRONMENT } from "@eks-gitops-fleet/local/cli";
import type { ControlPlane } from "@eks-gitops-fleet/local/test";
import { ensureAddonProgram, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { parse, parseAllDocuments, stringify } from "yaml";
import type { Manifest } from "../../repos/support/kustomize.ts";
import { render, withAddons } from "../../repos/support/spoke.ts";
import type { Admin } from "./admission-cluster.ts";

/** Kyverno's admission controller, as the local stack builds it for the add-on, as a process beside a control plane. */

const run = promisify(execFile);
const PORT = 9443;

const modules = join(import.meta.dirname, "..", "..", "..", "local", "toolchain", "go", "kyverno", "go.mod");

/** How Go runs in test/envtest/kyverno, which only long tests compile: with the modules of Kyverno's programs. */
export const kyvernoModule = {
  cwd: join(import.meta.dirname, "..", "kyverno"),
  encoding: "utf8",
  env: { ...process.env, ...GO_ENVIRONMENT, GOFLAGS: `${GO_ENVIRONMENT.GOFLAGS} -modfile=${modules}` },
} as const;

const yamls = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(folder, name), "utf8"));

/** Downloads Kyverno's module. @returns its directory */
export async function kyvernoSource(): Promise<string> {
  const { stdout } = await run("go", ["mod", "download", "-json", "github.com/kyverno/kyverno"], kyvernoModule);
  return JSON.parse(stdout).Dir;
}

/** Copies the chart of Kyverno's module, which must be of `version`, into a new folder below `dir`. */
export function kyvernoChart(source: string, dir: string, version: string): string {
  const folder = join(dir, "chart");
  cpSync(join(source, "charts", "kyverno"), folder, { recursive: true });
  const { dependencies, ...about } = parse(readFileSync(join(folder, "Chart.yaml"), "utf8"));
  if (about.version !== version)
    throw new Error(`the module of local/toolchain/go/kyverno has chart ${about.version}, the fleet ${version}`);
  // Of its dependencies those that are in the module; the others are CRDs and a server that is off.
  const here = dependencies.filter(({ repository }: { repository?: string }) => repository === undefined);
  writeFileSync(join(folder, "Chart.yaml"), stringify({ ...about, dependencies: here }));
  return folder;
}

/** What the fleet's HelmRelease installs, by the chart in Kyverno's module. Its CustomResourceDefinitions are not in it. */
async function installed(helm: string, source: string, dir: string): Promise<Manifest[]> {
  const release = render(withAddons("minimal", ["kyverno"]))
    .by("kyverno")
    .find(({ kind }) => kind === "HelmRelease");
  const { releaseName, targetNamespace, values, chart } = release?.spec ?? {};
  const folder = kyvernoChart(source, dir, chart.spec.version);
  writeFileSync(join(dir, "values.yaml"), stringify({ ...values, crds: { install: false } }));
  const args = [releaseName, folder, "--namespace", targetNamespace, "--values", join(dir, "values.yaml")];
  const { stdout } = await run(helm, ["template", ...args, "--no-hooks", "--skip-tests"], { maxBuffer: 2 ** 26 });
  return parseAllDocuments(stdout).flatMap((document) => (document.contents ? [document.toJS() as Manifest] : []));
}

/** A running controller. */
export interface Kyverno {
  /** `host:port` of its webhooks. */
  readonly server: string;
  /** @throws its last words, when it has ended. */
  check(): void;
  /** Kills it. */
  stop(): Promise<void>;
}

/**
 * Installs Kyverno as the fleet does, but for the pods: there are no nodes. The controller has the flags and the variables of
 * its container, its configuration and its service account's rights; it serves the webhooks on the control plane's address.
 */
export async function startKyverno(toolchain: Toolchain, plane: ControlPlane, kubectl: Admin): Promise<Kyverno> {
  const file = (name: string) => join(plane.dir, name);
  const program = await ensureAddonProgram("kyverno", "kyverno", console.log);
  const source = await kyvernoSource();
  kubectl.define(yamls(join(source, "config", "crds")).map((text) => parse(text)));
  const objects = await installed(toolchain.bin("helm"), source, plane.dir);
  const deployment = objects.find(({ kind }) => kind === "Deployment");
  const { namespace = "", name = "" } = deployment?.metadata ?? {};
  kubectl.apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
  kubectl.apply(objects.filter((object) => object !== deployment));

  const { serviceAccountName, containers } = deployment?.spec.template.spec ?? {};
  const account = kubectl.run(["create", "token", serviceAccountName, "--namespace", namespace, "--duration", "2h"]);
  if (!account.ok) throw new Error(account.text);
  const { users, ...kubeconfig } = JSON.parse(plane.kubeconfig);
  const user = { name: users[0].name, user: { token: account.text.trim() } };
  writeFileSync(file("kyverno.kubeconfig"), JSON.stringify({ ...kubeconfig, users: [user] }), { mode: 0o600 });

  const server = `${plane.address}:${PORT}`;
  const outOfCluster = [
    `--kubeconfig=${file("kyverno.kubeconfig")}`,
    `--serverIP=${server}`,
    `--webhookServerHost=${plane.address}`,
    `--metricsHost=${plane.address}`,
    "--controllerRuntimeMetricsAddress=0",
    // The others ask clouds.
    "--registryCredentialHelpers=default",
  ];
  const { args, env } = containers[0];
  const fields: Record<string, string> = { "metadata.namespace": namespace, "metadata.name": `${name}-0` };
  const variables = env.map((each: { name: string; value?: string; valueFrom?: Manifest }) => [
    each.name,
    each.value ?? fields[each.valueFrom?.["fieldRef"].fieldPath],
  ]);
  const log = openSync(file("kyverno.log"), "a");
  const child = spawn(program, [...args, ...outOfCluster], {
    cwd: plane.dir,
    stdio: ["ignore", log, log],
    env: { HOME: plane.dir, ...Object.fromEntries(variables), TUF_ROOT: plane.dir },
  });
  return {
    server,
    check: () => {
      if (child.exitCode !== null) throw new Error(readFileSync(file("kyverno.log"), "utf8").slice(-3000));
    },
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}
