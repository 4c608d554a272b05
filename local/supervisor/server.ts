import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ProcessSpec } from "./spec.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * Serves a supervisor on a unix socket that only this user can open: POST /start (a spec), POST /stop ({id}),
 * GET /list, POST /shutdown. Errors are `{"error": message}` with status 4xx or 500. `onShutdown` runs after the answer.
 */
export async function serve(supervisor: Supervisor, socketPath: string, onShutdown: () => void): Promise<Server> {
  const routes: Record<string, (body: unknown) => Promise<unknown>> = {
    "POST /start": (body) => supervisor.start(body as ProcessSpec),
    "POST /stop": async (body) => await supervisor.stop((body as { id: string }).id),
    "GET /list": async () => supervisor.list(),
    "POST /shutdown": async () => await supervisor.shutdown(),
  };
  const server = createServer((request, response) => {
    const route = `${request.method} ${request.url}`;
    const handler = routes[route];
    if (handler === undefined) {
      answer(response, 404, { error: `${route} is unknown, allowed are ${Object.keys(routes).join(", ")}` });
      return;
    }
    bodyOf(request)
      .then(handler)
      .then(
        (result) => {
          if (route === "POST /shutdown") response.once("close", onShutdown);
          answer(response, 200, result ?? {});
        },
        (error: Error) => answer(response, 500, { error: error.message }),
      );
  });
  // The socket of a supervisor that was killed: the lock is ours, so nobody listens there.
  await rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
