import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { type HttpRequest, type HttpResponse, jsonResponse, readRequest, writeResponse } from "./aws/http.ts";
import type { Log } from "./log.ts";

/** Answers a request that was read to its end. */
export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

/** A listener over a handler; a failing handler answers 500 and is logged, without its request (which may hold secrets). */
export function listener(handle: Handler, log: Log): RequestListener {
  return (message, response) => {
    answer(message, response, handle).catch((error: unknown) => {
      log(
        `${message.method ?? ""} ${(message.url ?? "").split("?")[0] ?? ""} (${message.headers.host ?? ""}): ${(error as Error).stack ?? String(error)}`,
      );
      if (!response.headersSent)
        writeResponse(
          response,
          jsonResponse(500, { message: (error as Error).message }, { "x-amzn-errortype": "InternalFailure" }),
        );
      else response.destroy();
    });
  };
}

async function answer(message: IncomingMessage, response: ServerResponse, handle: Handler): Promise<void> {
  writeResponse(response, await handle(await readRequest(message)));
}

/** Listens on an address. Rejects where it is taken. */
export function listen(
  address: string,
  port: number,
  onRequest: RequestListener,
  tls?: ServerOptions,
): Promise<Server> {
  const server = tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  // Above the idle time of AWS SDKs: the client, not the server, ends an idle connection.
  server.keepAliveTimeout = 120_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => resolve(server));
  });
}
