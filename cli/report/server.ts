import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { servedPolicy } from "./page/page.ts";

/** Serves a report to browsers of this machine: whoever knows the address, which no other page and no other user does. */

/** What is served. */
export interface Shown {
  readonly html: string;
  readonly json: string;
  /** In quotes, as HTTP has it. */
  readonly etag: string;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const headers = {
  "Content-Security-Policy": `${servedPolicy}; frame-ancestors 'none'`,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;

const plain = (status: number, text: string, more: Answer["headers"] = {}): Answer => ({
  status,
  headers: { "Content-Type": "text/plain; charset=utf-8", ...more },
  body: `${text}\n`,
});

/** A name of another page that leads to this machine (DNS rebinding) is not one of ours. */
const isOwnHost = (host: string | undefined, port: number): boolean =>
  // Browsers name no port where it is the one of HTTP.
  ["127.0.0.1", "localhost"].some((own) => host === `${own}:${port}` || (port === 80 && host === own));

function answerTo(
  { method = "", url, headers: asked }: IncomingMessage,
  port: number,
  secret: string,
  shown: () => Shown,
) {
  if (!isOwnHost(asked.host, port)) return plain(421, `this is 127.0.0.1:${port}, by no other name`);
  if (method !== "GET" && method !== "HEAD")
    return plain(405, "the report can only be read: GET and HEAD", { Allow: "GET, HEAD" });
  const types: Readonly<Record<string, readonly [type: string, part: "html" | "json"]>> = {
    [`/${secret}/`]: ["text/html; charset=utf-8", "html"],
    [`/${secret}/report.json`]: ["application/json", "json"],
  };
  const wanted = Object.hasOwn(types, url ?? "") ? types[url ?? ""] : undefined;
  if (wanted === undefined) return plain(404, "nothing is here: open the address that fleet report printed");
  const { etag, ...parts } = shown();
  if (asked["if-none-match"] === etag) return { status: 304, headers: { ETag: etag } };
  const [type, part] = wanted;
  return { status: 200, headers: { "Content-Type": type, ETag: etag }, body: parts[part] };
}

/** @param secret the folder of the address that only its reader knows */
export function serverOf(shown: () => Shown, secret: string): Server {
  return createServer((request: IncomingMessage, response: ServerResponse) => {
    const { status, headers: own, body = "" }: Answer = answerTo(request, request.socket.localPort ?? 0, secret, shown);
    response.writeHead(status, {
      ...headers,
      ...own,
      ...(status === 304 ? {} : { "Content-Length": Buffer.byteLength(body) }),
    });
    response.end(request.method === "HEAD" ? undefined : body);
  });
}

/** Begins to serve on this machine alone. @param port 0 for any that is free; @returns the port @throws where it is taken */
export function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "EADDRINUSE"
          ? new Error(`port ${port} of 127.0.0.1 is taken: name another one with --serve, or 0 for any that is free`)
          : error,
      ),
    );
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
