import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpRequest, HttpResponse } from "./http.ts";

/** Header that carries the gateway's signed assertion to ministack; dropped from client requests. */
export const ASSERTION_HEADER = "x-fleet-assertion";

/** Hop-by-hop headers (RFC 9110, 7.6.1) and what the gateway sets itself. */
const DROPPED = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "content-length",
  // Node answers it itself.
  "expect",
  ASSERTION_HEADER,
]);

/** How long a request waits for ministack while the supervisor restarts it. */
const RESTART_SECONDS = 15;

/** Sends a request to ministack as it arrived, Host header included (SigV4 signs it), plus `extra` headers. */
export type Forward = (request: HttpRequest, extra?: Record<string, string>) => Promise<HttpResponse>;

/** A forwarder to `endpoint`. A refused connection is retried while ministack restarts; nothing else is, nothing was sent then. */
export function forwardTo(endpoint: string): Forward {
  const { hostname, port } = new URL(endpoint);
  // No connection is reused: a reset could mean that ministack closed an idle one, or that a request was lost.
  const agent = new Agent({ keepAlive: false, maxSockets: 64 });
  const send = (from: HttpRequest, extra: Record<string, string>): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { hostname, port, agent, method: from.method, path: from.url, headers: forwardedHeaders(from, extra) },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
          incoming.on("error", reject);
          incoming.on("end", () =>
            resolve({
              status: incoming.statusCode ?? 502,
              headers: answeredHeaders(from.method, incoming.headers),
              body: Buffer.concat(chunks),
            }),
          );
        },
      );
      outgoing.on("error", reject);
      outgoing.end(from.body);
    });
  return async (from, extra = {}) => {
    const deadline = Date.now() + RESTART_SECONDS * 1000;
    for (;;) {
      try {
        return await send(from, extra);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED" || Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  };
}

function forwardedHeaders(from: HttpRequest, extra: Record<string, string>): OutgoingHttpHeaders {
  const headers: Record<string, string[]> = {};
  for (let at = 0; at + 1 < from.rawHeaders.length; at += 2) {
    const name = (from.rawHeaders[at] ?? "").toLowerCase();
    if (!DROPPED.has(name)) headers[name] = [...(headers[name] ?? []), from.rawHeaders[at + 1] ?? ""];
  }
  // Node writes an array as several lines; one value stays a string, as Host must be.
  const lines = Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
  return { ...lines, ...extra, "content-length": from.body.length };
}

function answeredHeaders(method: string, headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (!DROPPED.has(name) && value !== undefined) kept[name] = value;
  // The answer to a HEAD has no body to take the length from.
  if (method === "HEAD" && headers["content-length"] !== undefined) kept["content-length"] = headers["content-length"];
  return kept;
}
