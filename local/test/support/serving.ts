import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Has a server of a unit or integration test listen, as long as the process runs, which it doesn't keep. @returns its origin */
export async function originOf(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.unref().address() as AddressInfo).port}`;
}

/** The origin of a server that answers each request with its body. */
export const serving = (answer: (request: IncomingMessage, body: string, response: ServerResponse) => unknown) =>
  originOf(createServer((request, response) => void text(request).then((body) => answer(request, body, response))));
