import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import { queryOf } from "../aws/credential-scope.ts";
import { type Asked, actionsFor, groupFor, redirectTo } from "./rules.ts";
import type { Listener, Target } from "./snapshot.ts";

/** What a listener looks up for each request. */
interface Routing {
  /** Undefined when the listener is gone. */
  readonly listener: () => Listener | undefined;
  /** The targets of a group that get requests. */
  readonly targets: (group: string) => readonly Target[];
  /** The address from which targets are reached. */
  readonly source: string;
}

/** An idle target is given up then (ELB User Guide, `idle_timeout.timeout_seconds`). */
const IDLE_MS = 60_000;
/** A target that does not answer to a new connection is given up then (ELB User Guide, "HTTP 504: Gateway timeout"). */
const CONNECT_MS = 10_000;

function askedBy({ method = "GET", url = "/", headers }: IncomingMessage): Asked {
  const at = url.indexOf("?");
  const header = (name: string) => headers[name]?.toString();
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  return { host, method, path: at < 0 ? url : url.slice(0, at), query: queryOf(url), header };
}

/** What the load balancer says itself. */
function say(to: ServerResponse, status: number, body = "", headers: Readonly<Record<string, string>> = {}): void {
  to.writeHead(status, { server: "awselb/2.0", "content-type": "text/plain; charset=utf-8", ...headers });
  to.end(body);
}

/** The headers that a target gets (ELB User Guide, "HTTP headers and Application Load Balancers"). */
function forwarded(headers: IncomingHttpHeaders, client: string, port: number): IncomingHttpHeaders {
  const { connection: _, "keep-alive": __, ...kept } = headers;
  // Node gives what came in several headers as one.
  const before = headers["x-forwarded-for"]?.toString();
  return {
    ...kept,
    "x-forwarded-for": before === undefined ? client : `${before}, ${client}`,
    "x-forwarded-proto": "http",
    "x-forwarded-port": String(port),
  };
}

function passOn(target: Target, from: IncomingMessage, to: ServerResponse, routing: Routing, port: number): void {
  const { method, url, headers, socket } = from;
  const own = forwarded(headers, socket.remoteAddress ?? "", port);
  const { address: host, port: targetPort } = target;
  const call = request(
    {
      host,
      port: targetPort,
      method,
      path: url,
      headers: own,
      localAddress: routing.source,
      agent: false,
      timeout: IDLE_MS,
    },
    (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
      answer.once("error", () => to.destroy());
    },
  );
  let status = 502;
  const giveUp = (what: string) => {
    status = 504;
    call.destroy(new Error(what));
  };
  call.once("timeout", () => giveUp(`nothing was said for ${IDLE_MS / 1000} seconds`));
  call.once("socket", (connection) => {
    const timer = setTimeout(() => giveUp(`no connection within ${CONNECT_MS / 1000} seconds`), CONNECT_MS);
    for (const event of ["connect", "close"]) connection.once(event, () => clearTimeout(timer));
  });
  call.once("error", (error) => {
    if (to.headersSent) return void to.destroy();
    say(to, status, `${status}: the target ${host}:${targetPort} can't be reached: ${error.message}\n`);
  });
  // Also when whoever asked has gone: nobody waits for the rest of the answer.
  to.once("close", () => call.destroy());
  from.pipe(call);
}

function act(action: Action, asked: Asked, port: number, from: IncomingMessage, to: ServerResponse, routing: Routing) {
  if (action.Type === "fixed-response") {
    const { StatusCode = "200", ContentType = "text/plain", MessageBody = "" } = action.FixedResponseConfig ?? {};
    return say(to, Number(StatusCode), MessageBody, { "content-type": ContentType });
  }
  if (action.Type === "redirect") {
    const status = Number(action.RedirectConfig?.StatusCode?.replace("HTTP_", "") ?? 301);
    return say(to, status, "", { location: redirectTo(action, asked, port) });
  }
  if (action.Type !== "forward")
    return say(to, 501, `501: the embedded cloud has no action ${action.Type ?? "without a type"}\n`);
  const targets = routing.targets(groupFor(action, Math.random()) ?? "");
  const target = targets[Math.floor(Math.random() * targets.length)];
  if (target === undefined) return say(to, 503, "503: no target of the target group is in service\n");
  return passOn(target, from, to, routing, port);
}

/** Answers a request as the listener's rules say. */
export function answerer(routing: Routing): (from: IncomingMessage, to: ServerResponse) => void {
  return (from, to) => {
    const listener = routing.listener();
    if (listener === undefined) return say(to, 503, "503: the listener is gone\n");
    const asked = askedBy(from);
    const [action] = actionsFor(listener.rules, asked);
    if (action === undefined) return say(to, 500, "500: no rule of the listener is for this request\n");
    return act(action, asked, listener.port, from, to, routing);
  };
}
