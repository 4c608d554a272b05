import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";

/** What HTTP servers of the embedded cloud have in common. */

/** Serves until the supervisor ends the process, which does not wait for open connections. Rejects where the port is taken. */
export async function serve(server: Server, address: string | undefined, port: number): Promise<void> {
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.once(signal, () => {
      server.close();
      server.closeAllConnections();
    });
  await once(server.listen(port, address), "listening");
}

/** The whole body of a request; undefined when it is larger than `limit` bytes. Rejects on a broken connection. */
export async function bodyOf(message: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
