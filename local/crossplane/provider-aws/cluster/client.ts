/**
 * The API server of the cluster that the pod runs in, over node:https: what @kubernetes/client-node would add is 26 MB of memory
 * in each of the family's pods, and an informer that ends with the first error.
 */
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { createInterface } from "node:readline";

/** The API server answered with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly contentType?: string;
  readonly accept?: string;
}

export interface ClusterAccess {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  /** Read for every call: kubelet replaces it before it expires. */
  readonly token: () => Promise<string>;
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const ANSWER_TIMEOUT_MS = 60_000;

/** Access as the pod's service account. @throws outside of a pod */
export async function inCluster(environment: NodeJS.ProcessEnv): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  if (!host || !port)
    throw new Error("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: run this in a pod");
  return {
    server: `https://${host}:${port}`,
    ca: await readFile(`${ACCOUNT}/ca.crt`, "utf8"),
    token: () => readFile(`${ACCOUNT}/token`, "utf8"),
  };
}

export class ClusterClient {
  readonly #access: ClusterAccess;
  readonly #agent: Agent;
  readonly #program: string;

  /** @param program what audit logs call the caller */
  constructor(access: ClusterAccess, program: string) {
    this.#access = access;
    this.#program = program;
    this.#agent = new Agent({ keepAlive: true, ca: access.ca });
  }

  /** Sends a request and gives the answer's JSON. @throws {ApiError} with the server's message */
  async call<T>(call: Call): Promise<T> {
    const chunks: string[] = [];
    for await (const chunk of await this.#send(call, AbortSignal.timeout(ANSWER_TIMEOUT_MS)))
      chunks.push(String(chunk));
    return JSON.parse(chunks.join("")) as T;
  }

  /** The answer, or undefined where there is no such object. */
  async find<T>(call: Call): Promise<T | undefined> {
    try {
      return await this.call<T>(call);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Hands the events of a watch to `onEvent`; resolves when the server ends it. */
  async watch<E>(call: Call, onEvent: (event: E) => void, signal: AbortSignal): Promise<void> {
    const answer = await this.#send({ ...call, query: { ...call.query, watch: "true" } }, signal);
    try {
      for await (const line of createInterface({ input: answer })) if (line !== "") onEvent(JSON.parse(line) as E);
    } finally {
      answer.destroy();
    }
  }

  async #send(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
    const {
      method = "GET",
      path,
      query = {},
      body,
      contentType = "application/json",
      accept = "application/json",
    } = call;
    const url = new URL(path, this.#access.server);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const options: RequestOptions = {
      method,
      agent: this.#agent,
      signal,
      headers: {
        accept,
        authorization: `Bearer ${(await this.#access.token()).trim()}`,
        "user-agent": this.#program,
        ...(body && { "content-type": contentType }),
      },
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(url, options, resolve);
      outgoing.on("error", reject);
      outgoing.end(body ? JSON.stringify(body) : undefined);
    });
    answer.setEncoding("utf8");
    if ((answer.statusCode ?? 500) < 300) return answer;
    const chunks: string[] = [];
    for await (const chunk of answer) chunks.push(String(chunk));
    throw new ApiError(answer.statusCode ?? 500, `${method} ${path}: ${messageOf(chunks.join(""))}`);
  }
}

/** The message of a Status object; other answers as they are. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text.slice(0, 500);
  }
}
