import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { SignatureV4 } from "@smithy/signature-v4";
import { decodeJwt } from "jose";
import { AGENT_ADDRESS } from "./address.ts";

/**
 * The EKS Pod Identity Agent of one node: pods ask it for the credentials of their association, and it asks EKS Auth, with the rights of
 * the node's role. Answers, checks and times are those of eks-pod-identity-agent 0.1.37 (pkg/handlers, internal/validation, pkg/errors,
 * internal/credsretriever).
 */

/** How long credentials are given out before others are fetched (max-credential-retention-before-renewal). */
const RETENTION_MS = 3 * 3600 * 1000;
/** Credentials that hold for less are not worth giving out. */
const LEAST_MS = 15_000;

/** Credentials of the node's role, as its metadata service gives them. */
export interface NodeCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** ISO 8601. */
  readonly expiration: string;
}

export interface AgentOptions {
  readonly cluster: string;
  readonly region: string;
  /** URL of the AWS API. */
  readonly endpoint: string;
  readonly nodeCredentials: () => Promise<NodeCredentials>;
  /** Is told what pods were refused. */
  readonly log: (line: string) => void;
  readonly now?: () => number;
}

/** Something that the asking pod gets to read, with an HTTP status. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What EKS Auth answers. */
interface Assumed {
  readonly assumedRoleUser: { readonly arn: string };
  readonly credentials: Readonly<Record<"accessKeyId" | "secretAccessKey" | "sessionToken", string>> & {
    /** Seconds since 1970. */
    readonly expiration: number;
  };
}

/** The server; who starts it chooses where it listens. */
export function podIdentityAgent(options: AgentOptions): Server {
  const credentialsOf = retained(options, (token) => assume(options, token));
  const answer = async ({ url = "/", headers }: IncomingMessage): Promise<string> => {
    if (url.split("?")[0] !== "/v1/credentials") throw new Refusal(404, "404 page not found");
    return JSON.stringify(await credentialsOf(tokenIn(headers)));
  };
  return createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(200, { "content-type": "application/json" }).end(body),
      (error: Error) => {
        options.log(`refused: ${error.message}`);
        const status = error instanceof Refusal ? error.status : 500;
        response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${error.message}\n`);
      },
    );
  });
}

/** The pod's token. Throws Refusal for a request that is not worth EKS Auth's time. */
function tokenIn({ host = "", authorization: token = "" }: IncomingMessage["headers"]): string {
  const asked = host.replace(/:\d+$/, "");
  if (asked !== AGENT_ADDRESS)
    throw new Refusal(
      403,
      `Access Denied. Called agent through invalid address, please use ${AGENT_ADDRESS} address not ${asked}`,
    );
  if (token === "") throw new Refusal(400, "Service account token cannot be empty");
  try {
    decodeJwt(token);
  } catch (error) {
    throw new Refusal(400, `Service account token cannot be parsed: ${(error as Error).message}`);
  }
  return token;
}

/** Keeps what was fetched for a token; a token that is used anew after that is fetched for again. */
function retained({ now = Date.now }: AgentOptions, fetchFor: (token: string) => Promise<Assumed>) {
  const kept = new Map<string, { until: number; answer: Promise<object> }>();
  return (token: string): Promise<object> => {
    for (const [other, { until }] of kept) if (until <= now()) kept.delete(other);
    const known = kept.get(token);
    if (known !== undefined) return known.answer;
    const entry = { until: now() + RETENTION_MS, answer: Promise.resolve({}) };
    entry.answer = fetchFor(token).then(
      ({ assumedRoleUser, credentials }) => {
        entry.until = Math.min(entry.until, credentials.expiration * 1000 - LEAST_MS);
        return {
          AccessKeyId: credentials.accessKeyId,
          SecretAccessKey: credentials.secretAccessKey,
          Token: credentials.sessionToken,
          AccountId: assumedRoleUser.arn.split(":")[4],
          Expiration: new Date(credentials.expiration * 1000).toISOString(),
        };
      },
      (error: unknown) => {
        kept.delete(token);
        throw error;
      },
    );
    kept.set(token, entry);
    return entry.answer;
  };
}

/** EKS Auth's AssumeRoleForPodIdentity, signed with the node's credentials. */
async function assume({ cluster, region, endpoint, nodeCredentials }: AgentOptions, token: string): Promise<Assumed> {
  const { host, hostname, protocol } = new URL(endpoint);
  const request = {
    method: "POST",
    protocol,
    hostname,
    path: `/clusters/${encodeURIComponent(cluster)}/assume-role-for-pod-identity`,
    query: {},
    headers: { host, "content-type": "application/json" },
    body: JSON.stringify({ token }),
  };
  const { accessKeyId, secretAccessKey, sessionToken } = await nodeCredentials();
  const credentials = { accessKeyId, secretAccessKey, sessionToken };
  const signer = new SignatureV4({ service: "eks-auth", region, credentials, sha256: Sha256 });
  const { headers, method, body } = await signer.sign(request);
  const answer = await fetch(new URL(request.path, endpoint), { method, headers, body });
  const said = (await answer.json()) as Assumed & { message?: string };
  if (answer.ok) return said;
  const code = answer.headers.get("x-amzn-errortype")?.split(":")[0] ?? "Unknown";
  throw new Refusal(
    answer.status,
    `(${code}): ${said.message ?? ""}, fault: ${answer.status < 500 ? "client" : "server"}`,
  );
}

/** The hash that signatures need, from Node's own. */
class Sha256 {
  private readonly hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }

  reset(): void {
    throw new Error("a hash is used once");
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, "utf8");
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
