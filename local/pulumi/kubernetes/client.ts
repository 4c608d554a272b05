/** The Kubernetes API over HTTP: kubeconfig and credentials by @kubernetes/client-node, plain REST on top. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import https, { type RequestOptions } from "node:https";
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

/**
 * The kubeconfig in effect: its content, or the file that holds it.
 * @param given content or path; undefined: KUBECONFIG or ~/.kube/config.
 * @throws {UnreachableError} when there is none.
 */
export function kubeconfigSource(given: string | undefined): { content: string } | { file: string } {
  if (given && isContent(given)) return { content: given };
  const named = given || process.env["KUBECONFIG"]?.split(path.delimiter)[0];
  const file = (named || "~/.kube/config").replace(/^~(?=\/)/, homedir());
  if (existsSync(file)) return { file };
  throw new UnreachableError(
    `there is no kubeconfig: ${file} does not exist. Set kubeconfig on the kubernetes provider`,
  );
}

/** Loads a kubeconfig. @throws {UnreachableError} that says what is wrong with it, without showing it. */
export function loadKubeconfig(given: string | undefined): KubeConfig {
  const source = kubeconfigSource(given);
  const kube = new KubeConfig();
  try {
    if ("file" in source) kube.loadFromFile(source.file);
    else kube.loadFromString(source.content);
  } catch (error) {
    throw new UnreachableError("the kubeconfig cannot be read", { cause: error });
  }
  if (kube.getCurrentCluster()) return kube;
  const known = kube.getContexts().map(({ name }) => name);
  throw new UnreachableError(
    `the kubeconfig has no cluster for the context '${kube.getCurrentContext()}'; its contexts: ${known.join(", ") || "none"}`,
  );
}

/** A connection to one cluster. */
export class Client {
  readonly #given: string | undefined;
  #kube: KubeConfig | undefined;
  /** Credentials are fetched by one request at a time, or every one would run the exec plugin at once. */
  #credentials: Promise<unknown> = Promise.resolve();

  /** @param kubeconfig see {@link kubeconfigSource}. */
  constructor(kubeconfig: string | undefined) {
    this.#given = kubeconfig;
  }

  get #kubeconfig(): KubeConfig {
    this.#kube ??= loadKubeconfig(this.#given);
    return this.#kube;
  }

  /** Namespace of objects that name none. @throws {UnreachableError} without a kubeconfig. */
  get namespace(): string {
    const kube = this.#kubeconfig;
    return kube.getContextObject(kube.getCurrentContext())?.namespace ?? "default";
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
    const { method, query = {}, contentType = "application/json", signal } = request;
    const authorized = await this.#authorized();
    const url = new URL((this.#kubeconfig.getCurrentCluster()?.server ?? "").replace(/\/$/, "") + request.path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const body = request.body === undefined ? "" : JSON.stringify(request.body);
    const headers = {
      ...authorized.headers,
      // Without its length Node sends no body with a DELETE.
      "content-length": Buffer.byteLength(body),
      accept: "application/json",
      "content-type": contentType,
      "user-agent": "pulumi-kubernetes (eks-gitops-fleet)",
    };
    const late = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const options = { ...authorized, method, headers, signal: signal ? AbortSignal.any([signal, late]) : late };
    try {
      const answer = await exchange(url, options, body);
      return parseAnswer(answer.status, answer.text, request);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (signal?.aborted) throw signal.reason;
      const cause = late.aborted ? new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`) : error;
      throw new UnreachableError(`the API server at ${url.origin} cannot be reached`, { cause });
    }
  }

  async #authorized(): Promise<RequestOptions> {
    const options: RequestOptions = {};
    const kube = this.#kubeconfig;
    const turn = this.#credentials.then(() => kube.applyToHTTPSOptions(options));
    this.#credentials = turn.catch(() => undefined);
    try {
      await turn;
    } catch (error) {
      const exec = kube.getCurrentUser()?.exec;
      const how = exec ? ` (exec ${String(exec.command)})` : "";
      throw new UnreachableError(`no credentials for the cluster${how}`, { cause: error });
    }
    return options;
  }
}

async function exchange(url: URL, options: RequestOptions, body: string): Promise<{ status: number; text: string }> {
  const request = (url.protocol === "http:" ? http : https).request(url, options);
  // Up to the answer's head `once` rejects with it, from then on reading does.
  request.on("error", () => {});
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks = (await response.toArray()) as Buffer[];
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
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
  throw new ApiError(status, textOf(body["reason"]), textOf(body["message"] ?? `${what}: status ${status}`));
}

/** True for an error that says the thing (object or its kind) does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
