import { createPublicKey, hkdfSync, type KeyObject } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from "jose";
import type { AccessList, App, Grants } from "./access.ts";

/** Where a GitHub Enterprise Server has its REST API. */
export const API_PATH = "/api/v3";
/** Lifetime of an installation token at GitHub (REST API, "Create an installation access token for an app"). */
const TOKEN_SECONDS = 3600;
/** Greatest lifetime of an app's own JWT at GitHub ("Generating a JSON Web Token (JWT) for a GitHub App"). */
const JWT_SECONDS = 600;
/** User name with an installation token over Git. */
const TOKEN_USER = "x-access-token";
const PREFIX = "ghs_";

/** The key that installation tokens are signed with: derived, so that they stay good when the server starts again. */
export const tokenKey = (hostKey: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", hostKey, "", "installation tokens of GitHub Apps", 32));

/** Why a request for a token is refused. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The app that signed a JWT, as GitHub asks for it: RS256 by the app's key, its ID as issuer, ten minutes at most. */
async function authenticated(list: AccessList, header: string | undefined, now: Date): Promise<App> {
  const jwt = /^Bearer (\S+)$/i.exec(header ?? "")?.[1];
  if (jwt === undefined) throw new Refusal(401, "Requires authentication");
  const unreadable = new Refusal(401, "A JSON web token could not be decoded");
  let app: App | undefined;
  try {
    if (decodeProtectedHeader(jwt).alg !== "RS256") throw unreadable;
    const { iss } = decodeJwt(jwt);
    app = list.apps.find(({ id }) => String(id) === iss);
  } catch {
    throw unreadable;
  }
  if (app === undefined) throw new Refusal(401, "'Issuer' claim ('iss') must be the ID of an app");
  const key: KeyObject = createPublicKey(app.publicKey);
  const { payload } = await jwtVerify(jwt, key, { algorithms: ["RS256"], currentDate: now }).catch(() => {
    throw unreadable;
  });
  const [issued, expires, seconds] = [payload.iat, payload.exp, now.getTime() / 1000];
  if (issued === undefined || issued > seconds) throw new Refusal(401, "'Issued at' claim ('iat') must be in the past");
  if (expires === undefined || expires > seconds + JWT_SECONDS)
    throw new Refusal(401, "'Expiration time' claim ('exp') is too far in the future");
  return app;
}

export interface TokenRequest {
  readonly list: AccessList;
  /** Number of the installation, from the path. */
  readonly installationId: string;
  readonly authorization: string | undefined;
  /** What is posted: nothing. GitHub could narrow a token by it, which is not done here. */
  readonly body: string;
  readonly key: Uint8Array;
  readonly now?: Date;
}

/** Answers `POST /app/installations/{id}/access_tokens`. */
export async function exchange(request: TokenRequest): Promise<{ status: number; body: object }> {
  const { list, installationId, authorization, body, key, now = new Date() } = request;
  try {
    const app = await authenticated(list, authorization, now);
    if (String(app.installationId) !== installationId) throw new Refusal(404, "Not Found");
    if (!["", "{}", "null"].includes(body.trim()))
      throw new Refusal(422, "a token for some repositories or permissions only is not made here: post nothing");
    const expires = Math.floor(now.getTime() / 1000) + TOKEN_SECONDS;
    const token = await new SignJWT({ installation: app.installationId })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime(expires)
      .sign(key);
    const permissions = { contents: app.access === "read" ? "read" : "write", metadata: "read" };
    return {
      status: 201,
      body: { token: `${PREFIX}${token}`, expires_at: new Date(expires * 1000).toISOString(), permissions },
    };
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: { message: error.message } };
    throw error;
  }
}

/** What the bearer of an installation token may do; empty when it is none, has ended, or its app is gone. */
export async function grantsOfInstallation(
  list: AccessList,
  credential: { readonly username: string; readonly token: string },
  key: Uint8Array,
  now: Date = new Date(),
): Promise<Grants> {
  const { username, token } = credential;
  if (username !== TOKEN_USER || !token.startsWith(PREFIX)) return new Map();
  const verified = await jwtVerify(token.slice(PREFIX.length), key, { algorithms: ["HS256"], currentDate: now }).catch(
    () => undefined,
  );
  const app = list.apps.find(({ installationId }) => installationId === verified?.payload["installation"]);
  return new Map(app?.repositories.map((repository) => [repository, app.access]));
}

/** The installation that a request for a token names; undefined for any other request. */
export function installationOf(method: string | undefined, target: string): string | undefined {
  if (method !== "POST") return undefined;
  return new RegExp(`^${API_PATH}/app/installations/(\\d+)/access_tokens$`).exec(
    new URL(target, "http://git").pathname,
  )?.[1];
}

/** Answers over HTTP with {@link exchange}. */
export async function serveExchange(
  message: IncomingMessage,
  response: ServerResponse,
  request: Pick<TokenRequest, "list" | "installationId" | "key">,
): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const { status, body } = await exchange({
    ...request,
    authorization: message.headers.authorization,
    body: Buffer.concat(chunks).toString(),
  });
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return status;
}
