import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { SignatureV4 } from "@smithy/signature-v4";
import type { Clients, GatewayCloud } from "./gateway.ts";

/** One call: the path may have a query. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Whose credentials sign. */
type Caller = Pick<Clients, "sts">;

/**
 * Gives a function that calls a service as a pod does: under AWS's own name, over TLS, at the address that the cluster's DNS gives for
 * it. Without a caller the call is not signed.
 */
export function signedCalls(
  { instance }: Pick<GatewayCloud, "instance">,
  host: string,
  signing: { service: string; region: string },
) {
  const agent = new Agent({
    ca: readFileSync(instance.paths.caCertificate),
    servername: host,
    lookup: (_name, _options, done) => done(null, [{ address: instance.gatewayAddress, family: 4 }]),
  });
  return async (by: Caller | undefined, call: Call): Promise<{ status: number; text: string }> => {
    const { method, path, body = "" } = call;
    const headers = by === undefined ? { host, ...call.headers } : await signed(by, host, signing, call);
    return new Promise((resolve, reject) => {
      request({ host, path, method, headers, agent }, (response) => {
        text(response).then((found) => resolve({ status: response.statusCode ?? 0, text: found }), reject);
      })
        .on("error", reject)
        .end(body);
    });
  };
}

async function signed(by: Caller, host: string, signing: { service: string; region: string }, call: Call) {
  const { credentials, sha256 } = by.sts.config;
  const [path = "", query = ""] = call.path.split("?");
  const { headers } = await new SignatureV4({ ...signing, credentials, sha256 }).sign({
    method: call.method,
    protocol: "https:",
    hostname: host,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: { host, ...call.headers },
    body: call.body ?? "",
  });
  return headers;
}
