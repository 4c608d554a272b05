import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { Forward } from "../app/forward.ts";
import { bodyOf } from "../server.ts";

/** Calls of webhooks are small: GitHub's are 25 MB at most, notification-controller takes 3 MB. */
const MAX_BYTES = 4 << 20;

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function call(port: number, path: string, { method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const own = { ...headers, "content-length": String(body.length) };
    const sent = request({ host: "127.0.0.1", port, method, path, headers: own, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.once("error", reject);
      answer.once("end", () => resolve({ status: answer.statusCode ?? 502, body: Buffer.concat(chunks) }));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

function end(to: ServerResponse, status: number, body: string | Buffer) {
  to.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
}

/**
 * Stands for the load balancers before the Receivers of an instance's clusters: `/<context>/hook/…` reaches `/hook/…` of
 * notification-controller there, and no other path reaches anything.
 * @param command `kubectl --context <context> … port-forward … :<port>` with a free port of 127.0.0.1
 */
export function createIngress(command: (context: string) => readonly [string, ...string[]]): Server {
  const forwards = new Map<string, Forward>();
  const forwardTo = (context: string): Forward => {
    const found = forwards.get(context) ?? new Forward(command(context));
    forwards.set(context, found);
    return found;
  };
  const pass = async (context: string, path: string, from: IncomingMessage, body: Buffer): Promise<Answer> => {
    const forward = forwardTo(context);
    for (let isAgain = false; ; isAgain = true) {
      const port = forward.port();
      try {
        return await call(await port, path, from, body);
      } catch (error) {
        // The pod may be another one by now: kubectl keeps to the first.
        forward.stop(port);
        if (isAgain) throw error;
      }
    }
  };
  const answer = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const [, context, path] = /^\/([a-z0-9][a-z0-9-]*)(\/hook\/[0-9a-f]+)$/.exec(from.url ?? "") ?? [];
    if (context === undefined || path === undefined)
      return end(to, 404, "not a webhook here: /<cluster>/hook/<path>\n");
    const body = await bodyOf(from, MAX_BYTES);
    if (body === undefined) return end(to, 413, `a call has at most ${MAX_BYTES} bytes\n`);
    try {
      const { status, body: said } = await pass(context, path, from, body);
      end(to, status, said);
    } catch (error) {
      end(to, 503, `the receiver on ${context} can't be reached: ${(error as Error).message}\n`);
    }
  };
  const server = createServer((from, to) => void answer(from, to).catch(() => to.destroy()));
  server.on("close", () => {
    for (const forward of forwards.values()) forward.stop();
  });
  return server;
}
