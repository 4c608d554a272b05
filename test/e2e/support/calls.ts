import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, expect } from "vitest";
import { eventually, instance } from "./fleet.ts";

/** Servers on this machine that record what Flux tells them. */

/** Seconds from a push, or a failure, to its call, on a machine that is busy. */
export const CALL_SECONDS = 180;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what Flux posts
  readonly body: any;
}

export const calls: Call[] = [];
const servers: Server[] = [];

/** Records a call. Bitbucket Server answers 404 where a commit has no such status yet. */
async function record(request: IncomingMessage): Promise<number> {
  const { method = "", url = "", headers } = request;
  const body = await text(request);
  calls.push({ method, path: url, authorization: headers.authorization, body: body && JSON.parse(body) });
  return method === "GET" ? 404 : 204;
}
export const answer: RequestListener = (request, response) =>
  void record(request).then(
    (status) => response.writeHead(status).end(),
    (error: Error) => response.writeHead(500).end(error.message),
  );

/** Has a server listen where pods of every cluster reach it. @returns its port */
export async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, instance.gatewayAddress, resolve));
  return (server.address() as AddressInfo).port;
}
afterAll(() => {
  for (const server of servers) server.close();
});

/** Waits until a path has been called of an object of this name, and gives what it was called with. */
export const told = (path: string, name: string): Promise<Call["body"]> =>
  eventually(CALL_SECONDS, async () => {
    const found = calls.find((call) => call.path === path && call.body.involvedObject.name === name);
    return found?.body ?? expect.fail(`no call of ${path} for ${name}`);
  });
