import { spawn } from "node:child_process";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import { type AccessList, grantsOfToken, isService, refusal, type Service } from "./access.ts";
import { grantsOfInstallation, installationOf, serveExchange, tokenKey } from "./github-app.ts";

/** What a smart HTTP request is about; undefined for a path or a service that Git does not use. */
function parseRequest(
  target: string,
): { repository: string; service: Service; path: string; query: string } | undefined {
  const url = new URL(target, "http://git");
  const [, repository, action] =
    /^\/([a-z0-9][a-z0-9-]*)\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(url.pathname) ?? [];
  const service = action === "info/refs" ? (url.searchParams.get("service") ?? "") : (action ?? "");
  if (repository === undefined || !isService(service)) return undefined;
  return { repository, service, path: url.pathname, query: url.search.slice(1) };
}

function basicCredential(header: string | undefined): [string, string] | undefined {
  const encoded = /^Basic (.+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return undefined;
  const [username, ...rest] = Buffer.from(encoded, "base64").toString().split(":");
  return [username ?? "", rest.join(":")];
}

/** Splits what a CGI program wrote into status, headers and the rest; undefined while the headers are not complete. */
function parseCgi(output: Buffer): { status: number; headers: Record<string, string>; body: Buffer } | undefined {
  const end = output.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const lines = output.subarray(0, end).toString().split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const { status, ...others } = headers;
  return { status: Number.parseInt(status ?? "200", 10), headers: others, body: output.subarray(end + 4) };
}

function end(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "text/plain", ...headers }).end(`${message}\n`);
}

function backend(request: IncomingMessage, response: ServerResponse, environment: Record<string, string>) {
  const git = spawn("git", ["http-backend"], { env: environment });
  request.pipe(git.stdin);
  git.stdin.on("error", () => request.unpipe(git.stdin)); // git ended before it read all
  git.stderr.pipe(process.stderr, { end: false });
  response.on("close", () => git.kill());
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const parsed = parseCgi(head);
    if (parsed === undefined) return;
    git.stdout.off("data", onHead);
    response.writeHead(parsed.status, parsed.headers).write(parsed.body);
    git.stdout.pipe(response);
  };
  git.stdout.on("data", onHead);
  git.on("error", (error) => end(response, 500, `git http-backend cannot be started: ${error.message}`));
  git.on("close", () => response.headersSent || end(response, 500, "git http-backend gave no answer"));
}

export interface HttpServerOptions {
  /** Folder with the bare repositories `<name>.git`. */
  root: string;
  /** Read at every request, so that a changed list counts at once. */
  accessList: () => AccessList;
  /** Private host key: the tokens of GitHub Apps are signed with a key that comes from it. */
  hostKey: string;
  /** Certificate and key (PEM); without them the server speaks plain HTTP. */
  tls?: { readonly cert: string; readonly key: string };
  log: (line: string) => void;
}

/**
 * Git over HTTPS through `git http-backend`, with basic authentication: by the access list's tokens, or by tokens of GitHub Apps,
 * which it gives as a GitHub Enterprise Server does.
 */
export function createHttpServer({ root, accessList, hostKey, tls, log }: HttpServerOptions): http.Server {
  const key = tokenKey(hostKey);
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "/";
    const installationId = installationOf(request.method, target);
    const wanted = parseRequest(target);
    if (wanted === undefined && installationId === undefined)
      return end(response, 404, "not a Git repository here: /<repository>.git");
    let list: AccessList;
    try {
      list = accessList();
    } catch (error) {
      log(String(error));
      return end(response, 503, "the access list cannot be read: see the server's log");
    }
    if (wanted === undefined) {
      const status = await serveExchange(request, response, { list, installationId: installationId ?? "", key });
      return log(`token for installation ${installationId}: status ${status}`);
    }
    const [username, token] = basicCredential(request.headers.authorization) ?? ["", ""];
    const granted = new Map([
      ...grantsOfToken(list, username, token),
      ...(await grantsOfInstallation(list, { username, token }, key)),
    ]);
    if (granted.size === 0)
      return end(response, 401, "a user name and a token are needed", { "www-authenticate": 'Basic realm="git"' });
    const denied = refusal(granted, wanted.repository, wanted.service);
    log(`http ${wanted.service} ${wanted.repository}${denied === undefined ? "" : `: ${denied}`}`);
    // GitHub says of what a credential may not read that it does not exist ("Troubleshooting cloning errors").
    if (denied !== undefined && !granted.has(wanted.repository)) return end(response, 404, "Repository not found.");
    if (denied !== undefined) return end(response, 403, denied);
    const header = (name: string) => String(request.headers[name] ?? "");
    backend(request, response, {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: wanted.path,
      QUERY_STRING: wanted.query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
      REMOTE_USER: username, // makes http-backend accept a push; who may push was decided above
      REMOTE_ADDR: request.socket.remoteAddress ?? "",
    });
  };
  const listener: http.RequestListener = (request, response) =>
    void answer(request, response).catch((error: unknown) => {
      log(String(error));
      if (response.headersSent) response.destroy();
      else end(response, 500, "the request failed: see the server's log");
    });
  return tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
}
