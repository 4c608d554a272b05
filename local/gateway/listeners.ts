import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { type HttpRequest, type HttpResponse, jsonResponse, readRequest, writeResponse } from "./aws/http.ts";

/** Writes one line of the process's log. */
export type Log = (line: string) => void;

/** Answers a request that was read to its end. */
export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

/** A listener over a handler; a failing handler answers 500 and is logged, without its request (which may hold secrets). */
export function listener(handle: Handler, log: Log): RequestListener {
  return (message, response) => {
    const answer = async () => writeResponse(response, await handle(await readRequest(message)));
    answer().catch((error: unknown) => {
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

/** Listens on a unix socket that only its owner may use; one that a killed run has left is replaced. */
export async function listenOnSocket(path: string, onRequest: RequestListener): Promise<Server> {
  await rm(path, { force: true });
  const server = createHttpServer(onRequest);
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  return server;
}

/** Listens on an address. Rejects where it is taken. */
export async function listen(
  address: string,
  port: number,
  onRequest: RequestListener,
  tls?: ServerOptions,
): Promise<Server> {
  const server = tls === undefined ? createHttpServer(onRequest) : createHttpsServer(tls, onRequest);
  // Above the idle time of AWS SDKs: the client, not the server, ends an idle connection.
  server.keepAliveTimeout = 120_000;
  server.listen(port, address);
  await once(server, "listening");
  return server;
}
