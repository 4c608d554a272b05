/** The helm program: one cluster, no secrets in arguments, nothing left behind. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import type { JsonMap } from "../framework/index.ts";
import { kubeconfigSource } from "./client.ts";

/** Where a chart comes from; credentials are passed by file only. */
export interface ChartSource {
  /** Name in the repository, a path, a URL or an OCI reference. */
  readonly chart: string;
  /** Version or range; missing: the newest. */
  readonly version: string | undefined;
  readonly repository: {
    readonly repo?: string;
    readonly username?: string;
    readonly password?: string;
  };
}

/** What `helm get metadata` says of a release. */
export interface ReleaseMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly chart: string;
  readonly version: string;
  readonly appVersion: string;
  readonly revision: number;
  /** `deployed`, `failed`, `pending-install`, `pending-upgrade`, `pending-rollback`, `uninstalling`, `superseded`. */
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Helm ended with an error. */
export class HelmError extends Error {
  override readonly name = "HelmError";
}

const NOT_FOUND = /release: not found/;

/** Runs helm for one cluster. Files (kubeconfig, caches, repository credentials) are in a folder of its own, readable by this user only. */
export class Helm {
  readonly #kubeconfig: string | undefined;
  #files: Promise<Files> | undefined;
  #checked: Promise<void> | undefined;

  /** @param kubeconfig content or path; undefined: KUBECONFIG or ~/.kube/config. */
  constructor(kubeconfig: string | undefined) {
    this.#kubeconfig = kubeconfig;
  }

  /** The release, undefined when there is none of that name. */
  async metadata(namespace: string, name: string): Promise<ReleaseMetadata | undefined> {
    const args = ["get", "metadata", name, "--namespace", namespace, "--output", "json"];
    const text = await this.run(args).catch((error: unknown) => {
      if (error instanceof HelmError && NOT_FOUND.test(error.message)) return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const { chart, version, appVersion, labels, ...found } = JSON.parse(text) as Partial<ReleaseMetadata>;
    return {
      name: found.name ?? name,
      namespace: found.namespace ?? namespace,
      chart: chart ?? "",
      version: version ?? "",
      appVersion: appVersion ?? "",
      revision: Number(found.revision),
      status: found.status ?? "",
      labels: labels ?? {},
    };
  }

  /** The values that the release was given. */
  async values(namespace: string, name: string): Promise<JsonMap> {
    const text = await this.run(["get", "values", name, "--namespace", namespace, "--output", "json"]);
    return (JSON.parse(text) as JsonMap | null) ?? {};
  }

  /** The rendered objects of the release. */
  async manifest(namespace: string, name: string): Promise<string> {
    return this.run(["get", "manifest", name, "--namespace", namespace]);
  }

  /** Chart.yaml of a chart. */
  async chart(source: ChartSource): Promise<string> {
    return this.run(["show", "chart", ...(await this.chartArguments(source))]);
  }

  /** Revisions of the release, oldest first. */
  async history(namespace: string, name: string): Promise<{ revision: number; status: string }[]> {
    return JSON.parse(await this.run(["history", name, "--namespace", namespace, "--output", "json"])) as {
      revision: number;
      status: string;
    }[];
  }

  /** Arguments that name a chart. With a user name, the repository or registry and its password go into a file. */
  async chartArguments({ chart, version, repository }: ChartSource): Promise<string[]> {
    const common = version ? ["--version", version] : [];
    const { repo, username, password } = repository;
    if (chart.startsWith("oci://")) {
      const login = username && password ? ["--registry-config", await this.#login(chart, username, password)] : [];
      return [chart, ...login, ...common];
    }
    if (!username) return [chart, ...(repo ? ["--repo", repo] : []), ...common];
    if (!repo) throw new HelmError("repositoryOpts.username needs repositoryOpts.repo, or a chart at oci://");
    const name = `r${Buffer.from(repo).toString("hex").slice(-40)}`;
    const file = path.join((await this.#prepare()).folder, `${name}.yaml`);
    const entry = { name, url: repo, username, password };
    await writeFile(file, stringify({ apiVersion: "", repositories: [entry] }), { mode: 0o600 });
    await this.run(["repo", "update", name, "--repository-config", file]);
    return [`${name}/${chart}`, "--repository-config", file, ...common];
  }

  /** A login for one chart, in place of the user's own: pulumi-kubernetes, provider/pkg/helm/tool.go, `NewRegistryClient`. */
  async #login(chart: string, username: string, password: string): Promise<string> {
    const folder = await mkdtemp(path.join((await this.#prepare()).folder, "registry-"));
    const auth = Buffer.from(`${username}:${password}`).toString("base64");
    const file = path.join(folder, "config.json");
    await writeFile(file, JSON.stringify({ auths: { [new URL(chart).host]: { auth } } }), { mode: 0o600 });
    return file;
  }

  /**
   * Runs helm to its end and returns what it printed.
   * @param input text for its stdin, e.g. values for `--values -`.
   * @throws {HelmError} with helm's own message.
   */
  async run(args: readonly string[], input = "", signal?: AbortSignal): Promise<string> {
    const files = await this.#prepare();
    this.#checked ??= execute(files, ["version", "--template", "{{.Version}}"], "").then(checkVersion);
    await this.#checked;
    return execute(files, args, input, signal);
  }

  /** Removes the folder. */
  async close(): Promise<void> {
    if (this.#files) await rm((await this.#files).folder, { recursive: true, force: true });
  }

  #prepare(): Promise<Files> {
    this.#files ??= makeFiles(this.#kubeconfig);
    return this.#files;
  }
}

/** What a helm process needs on disk. */
interface Files {
  /** Readable by this user only. */
  readonly folder: string;
  readonly kubeconfig: string;
}

/** A kubeconfig file stays where it is: paths in it are relative to it. */
async function makeFiles(given: string | undefined): Promise<Files> {
  const folder = await mkdtemp(path.join(tmpdir(), "pulumi-helm-"));
  const source = kubeconfigSource(given);
  if ("file" in source) return { folder, kubeconfig: path.resolve(source.file) };
  const kubeconfig = path.join(folder, "kubeconfig");
  await writeFile(kubeconfig, source.content, { mode: 0o600 });
  return { folder, kubeconfig };
}

function checkVersion(version: string): void {
  if (!/^v4\./.test(version))
    throw new HelmError(`helm is ${version.trim()}, needed is version 4 (FLEET_HELM or helm on PATH)`);
}

function execute(
  { folder, kubeconfig }: Files,
  args: readonly string[],
  input: string,
  signal?: AbortSignal,
): Promise<string> {
  const program = process.env["FLEET_HELM"] || "helm";
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: path.join(folder, "cache"),
    HELM_CONFIG_HOME: path.join(folder, "config"),
    HELM_DATA_HOME: path.join(folder, "data"),
  };
  // As an argument too: a helm that is a wrapper script may set KUBECONFIG itself.
  const argv = [...args, "--kubeconfig", kubeconfig];
  return new Promise((resolve, reject) => {
    const child = execFile(program, argv, { env, maxBuffer: Number.POSITIVE_INFINITY }, (error, stdout, stderr) => {
      signal?.removeEventListener("abort", stop);
      if (!error) resolve(stdout);
      // A text is the code of a system error: there is no such program, or it may not be run.
      else if (typeof error.code === "string")
        reject(new HelmError(`${program} cannot be run (FLEET_HELM or helm on PATH)`, { cause: error }));
      else reject(new HelmError(`helm ${args[0]}: ${message(stderr) || `ended with ${error.code ?? error.signal}`}`));
    });
    // Helm ends in order on SIGTERM: it marks the release as failed (and rolls back when asked to).
    const stop = () => child.kill("SIGTERM");
    signal?.addEventListener("abort", stop);
    // A helm that ends early closes its stdin: its exit code tells why.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** Helm's message without its log lines. */
function message(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => !/^(level=|time=|WARNING:|\d{4}\/\d\d\/\d\d )/.test(line));
  return lines
    .join("\n")
    .trim()
    .replace(/^Error: /, "");
}
