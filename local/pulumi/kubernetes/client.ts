/** The Kubernetes API over HTTP: kubeconfig and credentials by @kubernetes/client-node, plain REST on top. */
import { existsSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { homedir } from "node:os";
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { type JsonMap, textOf } from "../framework/index.ts";

/** The API server answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Machine-readable reason, e.g. `NotFound`, `AlreadyExists`, `Invalid`. */
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The API server could not be asked: no kubeconfig, no connection, no credentials. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** Which cluster, as the provider's configuration says. */
export interface ClusterConfig {
  /** Content or path of a kubeconfig; missing: KUBECONFIG or ~/.kube/config. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Name of a cluster in the kubeconfig, in place of the context's. */
  readonly cluster: string | undefined;
  /** Namespace of objects that name none, in place of the context's. */
  readonly namespace: string | undefined;
}

/** One request. Queries with undefined values are left out. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** How long the server may take for one answer, in ms; longer than any webhook's timeout (30 s). */
const ANSWER_TIMEOUT_MS = 60_000;

/** True when a kubeconfig value is the content itself, not a path. */
function isContent(kubeconfig: string): boolean {
  return kubeconfig.includes("\n") || kubeconfig.trimStart().startsWith("{");
}

/** The kubeconfig in effect: its content, or the file that holds it. @throws {UnreachableError} when there is none. */
export function kubeconfigSource({ kubeconfig }: ClusterConfig): { content: string } | { file: string } {
  if (kubeconfig && isContent(kubeconfig)) return { content: kubeconfig };
  const given = kubeconfig || process.env["KUBECONFIG"]?.split(path.delimiter)[0];
  const file = (given || "~/.kube/config").replace(/^~(?=\/)/, homedir());
  if (existsSync(file)) return { file };
  throw new UnreachableError(
    `there is no kubeconfig: ${file} does not exist. Set kubeconfig on the kubernetes provider`,
  );
}

/** Loads the kubeconfig. @throws {UnreachableError} that says what is wrong with it, without showing it. */
export function loadKubeconfig(config: ClusterConfig): KubeConfig {
  const source = kubeconfigSource(config);
  const kube = new KubeConfig();
  try {
    if ("file" in source) kube.loadFromFile(source.file);
    else kube.loadFromString(source.content);
  } catch (error) {
    throw new UnreachableError("the kubeconfig cannot be read", { cause: error });
  }
  if (config.context) kube.setCurrentContext(config.context);
  const context = kube.getContextObject(kube.getCurrentContext());
  if (!context) {
    const known = kube.getContexts().map(({ name }) => name);
    throw new UnreachableError(
      `the kubeconfig has no context '${kube.getCurrentContext()}'; it has: ${known.join(", ") || "none"}`,
    );
  }
  if (config.cluster)
    kube.contexts = kube.contexts.map((item) =>
      item === context ? { ...item, cluster: config.cluster as string } : item,
    );
  if (!kube.getCurrentCluster())
    throw new UnreachableError(`the kubeconfig has no cluster '${config.cluster ?? context.cluster}'`);
  return kube;
}

/** A connection to one cluster. */
export class Client {
  readonly #config: ClusterConfig;
  #kube: KubeConfig | undefined;
  /** Credentials are fetched by one request at a time, or every one would run the exec plugin at once. */
  #credentials: Promise<unknown> = Promise.resolve();

  constructor(config: ClusterConfig) {
    this.#config = config;
  }

  /** The loaded kubeconfig. @throws {UnreachableError} */
  get kubeconfig(): KubeConfig {
    this.#kube ??= loadKubeconfig(this.#config);
    return this.#kube;
  }

  /** Namespace of objects that name none. */
  get namespace(): string {
    if (this.#config.namespace) return this.#config.namespace;
    const { kubeconfig } = this;
    return kubeconfig.getContextObject(kubeconfig.getCurrentContext())?.namespace ?? "default";
  }

  /**
   * Sends a request and returns the JSON answer.
   * @throws {ApiError} for an error of the API server, {UnreachableError} when it cannot be asked.
   */
  async request(request: ApiRequest): Promise<JsonMap> {
    try {
      return await this.#send(request);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      // The token may have ended early: once more with fresh credentials.
      this.#kube = undefined;
      return this.#send(request);
    }
  }

  async #send(request: ApiRequest): Promise<JsonMap> {
    const options = await this.#authorized();
    const server = this.kubeconfig.getCurrentCluster()?.server ?? "";
    const url = new URL(server.replace(/\/$/, "") + request.path);
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, value);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const headers = {
      ...options.headers,
      accept: "application/json",
      "user-agent": "pulumi-kubernetes (eks-gitops-fleet)",
      ...(body === undefined
        ? {}
        : {
            "content-type": request.contentType ?? "application/json",
            "content-length": String(Buffer.byteLength(body)),
          }),
    };
    const { signal } = request;
    const { status, text } = await exchange(
      url,
      { ...options, method: request.method, headers, ...(signal ? { signal } : {}) },
      body,
    );
    return parseAnswer(status, text, request);
  }

  async #authorized(): Promise<https.RequestOptions> {
    const options: https.RequestOptions = {};
    const { kubeconfig } = this;
    const turn = this.#credentials.then(() => kubeconfig.applyToHTTPSOptions(options));
    this.#credentials = turn.catch(() => undefined);
    try {
      await turn;
    } catch (error) {
      const user = kubeconfig.getCurrentUser();
      const how = user?.exec ? ` (exec ${String(user.exec.command)})` : "";
      throw new UnreachableError(`no credentials for the cluster${how}`, { cause: error });
    }
    return options;
  }
}

function exchange(
  url: URL,
  options: https.RequestOptions,
  body: string | undefined,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      if (options.signal?.aborted) reject(options.signal.reason as Error);
      else reject(new UnreachableError(`the API server at ${url.origin} cannot be reached`, { cause: error }));
    };
    const send = url.protocol === "http:" ? http.request : https.request;
    const request = send(url, { ...options, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", failed);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)));
    request.on("error", failed);
    request.end(body);
  });
}

function parseAnswer(status: number, text: string, request: ApiRequest): JsonMap {
  const what = `${request.method} ${request.path}`;
  let body: JsonMap;
  try {
    body = JSON.parse(text) as JsonMap;
  } catch {
    // Proxies and a server that is just starting answer in plain text.
    throw new ApiError(status, "NotJson", `${what}: status ${status}, ${text.slice(0, 500) || "no text"}`);
  }
  if (status >= 200 && status < 300) return body;
  throw new ApiError(status, textOf(body["reason"] ?? ""), textOf(body["message"] ?? `${what}: status ${status}`));
}

/** True for an error that says the thing (object or its kind) does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
