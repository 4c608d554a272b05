import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "../../../cli/upstream/http.ts";

/** What one address answers. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

type Route = Answer | ((request: IncomingMessage) => Answer);

/** One server that plays all hosts: `https://host/path` is asked of it as `/host/path`. */
export class Upstream {
  readonly routes = new Map<string, Route>();
  /** Addresses that were asked for, in order. */
  readonly asked: string[] = [];
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  readonly listen = (): Promise<void> => new Promise((done) => this.#server.listen(0, "127.0.0.1", () => done()));
  readonly close = (): Promise<void> => new Promise((done) => this.#server.close(() => done()));

  /** A client that reaches this server by every host's name. */
  client(more: Partial<Client> = {}): Client {
    return {
      fetch: (url, init) => fetch(url.replace("https://", `${this.address}/`), init),
      pauses: [0, 0],
      ...more,
    };
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = decodeURIComponent((request.url ?? "").slice(1));
    this.asked.push(url);
    const route = this.routes.get(url) ?? { status: 404 };
    const { status = 200, headers = {}, body = "" } = typeof route === "function" ? route(request) : route;
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  }
}
