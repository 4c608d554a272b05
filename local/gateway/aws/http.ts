import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf } from "../../server.ts";

/** A request as it arrived, with its whole body: SigV4 covers all of it. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, undecoded, as signed. */
  readonly url: string;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
}

/** Nothing that an AWS client sends here is larger; objects of S3 may not be. */
const MAX_BODY = 64 << 20;

/** Reads a request to its end. Rejects on a body above 64 MiB or a broken connection. */
export async function readRequest(message: IncomingMessage): Promise<HttpRequest> {
  const body = await bodyOf(message, MAX_BODY);
  if (body === undefined) throw new Error(`request body is larger than ${MAX_BODY} bytes`);
  return {
    method: message.method ?? "GET",
    url: message.url ?? "/",
    rawHeaders: message.rawHeaders,
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
    ),
    body,
  };
}

/** A decoded part of a path, or undefined when its percent-encoding is invalid. */
export function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function writeResponse(target: ServerResponse, response: HttpResponse): void {
  const body = Buffer.from(response.body as string);
  target.writeHead(response.status, {
    "content-length": body.length,
    ...(response.headers as Record<string, string | string[]>),
  });
  target.end(body);
}

export function jsonResponse(status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}
