import http from "node:http";
import https from "node:https";
import { text } from "node:stream/consumers";
import { urlToHttpOptions } from "node:url";

/** Sends a request over a connection of its own and gives the whole answer. `target` is a URL, or says which socket. */
export function exchange(
  target: string | { readonly socketPath: string; readonly path: string },
  options: https.RequestOptions,
  body?: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const where = typeof target === "string" ? urlToHttpOptions(new URL(target)) : target;
  const { request } = "protocol" in where && where.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const call = request({ ...where, ...options, agent: false }, (response) => {
      text(response).then((text) => resolve({ status: response.statusCode, text }), reject);
    });
    call.once("timeout", () => call.destroy(new Error("no answer in time")));
    call.once("error", reject);
    call.end(body);
  });
}
