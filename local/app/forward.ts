import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";

/** `kubectl port-forward`, kept while it runs and started again when somebody asks after it has ended. */
export class Forward {
  readonly #command: readonly [string, ...string[]];
  #child: ChildProcess | undefined;
  #port: Promise<number> | undefined;

  constructor(command: readonly [string, ...string[]]) {
    this.#command = command;
  }

  /** The port on 127.0.0.1. Rejects with what kubectl wrote when it ends instead. */
  port(): Promise<number> {
    this.#port ??= this.#start();
    return this.#port;
  }

  /** Ends it, unless it is another than the one that gave `port` by now; the next call of `port` starts a new one. */
  stop(port = this.#port): void {
    if (port !== this.#port) return;
    this.#child?.kill();
    this.#child = undefined;
    this.#port = undefined;
  }

  #start(): Promise<number> {
    const [program, ...args] = this.#command;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    return new Promise((resolve, reject) => {
      let output = "";
      const read = (text: Buffer) => {
        output = (output + text.toString("utf8")).slice(-4000);
        const port = /Forwarding from 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
        if (port !== undefined) resolve(Number(port));
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      const ended = (error: Error) => {
        if (this.#child === child) this.stop();
        reject(error);
      };
      child.once("error", ended);
      child.once("close", (code) =>
        ended(new Error(output.trim() || `kubectl port-forward ended with exit code ${code}`)),
      );
    });
  }
}

/** Passes a request on; rejects while nothing of the answer was sent. */
function passOn(port: number, from: IncomingMessage, to: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const { method, url, headers } = from;
    const call = request({ host: "127.0.0.1", port, method, path: url, headers, agent: false }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
      answer.once("error", () => to.destroy());
    });
    call.once("error", reject);
    // Also when whoever asked has gone: nobody waits for the rest of the answer.
    to.once("close", () => {
      resolve();
      call.destroy();
    });
    from.pipe(call);
  });
}

/**
 * An HTTP server that passes requests on to an application in a cluster.
 * @param what names it in the answer 503 of a server that can't reach it
 * @param command `kubectl port-forward … :<port>` with a free port of 127.0.0.1
 */
export function createForwarder(what: string, command: readonly [string, ...string[]]): Server {
  const forward = new Forward(command);
  const answer = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const port = forward.port();
    try {
      await passOn(await port, from, to);
    } catch (error) {
      // The pod may be another one by now: kubectl keeps to the first.
      forward.stop(port);
      if (to.headersSent) return void to.destroy();
      to.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "1" });
      to.end(`${what} can't be reached: ${(error as Error).message}\n`);
    }
  };
  const server = createServer((from, to) => void answer(from, to));
  server.on("close", () => forward.stop());
  return server;
}
