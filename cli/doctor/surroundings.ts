import { existsSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { z } from "zod";
import type { Fetch } from "../upstream/http.ts";
import { UsageError } from "../usage.ts";

const format = z.strictObject({
  /** Folder of the stack files with which Pulumi runs there. */
  stacks: z.string(),
  /** Authorities to trust besides the machine's (PEM). */
  authorities: z.string(),
  /** Addresses of hosts whose names only the clusters resolve. */
  hosts: z.record(z.string(), z.string()),
});

/** What an embedded cloud has in place of the internet; `npm start` writes it, and FLEET_SURROUNDINGS names the file. */
export type Surroundings = z.infer<typeof format>;

/** @throws UsageError when FLEET_SURROUNDINGS names a file that can't be read or is something else. */
export function readSurroundings(env: Readonly<NodeJS.ProcessEnv>): Surroundings | undefined {
  const file = env["FLEET_SURROUNDINGS"];
  if (!file) return undefined;
  try {
    return format.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    throw new UsageError(
      `FLEET_SURROUNDINGS: ${file} is not readable as the file that npm start writes there. Run npm start again, or leave this shell`,
      { cause: error },
    );
  }
}

/** The file with which Pulumi runs a stack there; undefined when it runs no such stack. */
export function stackFileIn({ stacks }: Surroundings, stack: string): string | undefined {
  const file = join(stacks, `Pulumi.${stack.split("/").at(-1)}.yaml`);
  return existsSync(file) ? file : undefined;
}

/** Makes a fetch that trusts these authorities (PEM) too, as Flux does with `ca.crt`; "" adds none. */
export type Connect = (authorities: string) => Fetch;

/** Resolves every name to one address. */
const always =
  (address: string): LookupFunction =>
  (_, { all }, done) => {
    const family = isIP(address);
    if (all) done(null, [{ address, family }]);
    else done(null, address, family);
  };

/**
 * A fetch with authorities or addresses of its own, which global `fetch` does not take: it uses https.request, and follows no
 * redirection.
 */
export const connectIn =
  (surroundings: Surroundings | undefined, fetch: Fetch): Connect =>
  (authorities) => {
    const added = [surroundings?.authorities, authorities].filter((text) => text !== undefined && text !== "");
    if (added.length === 0) return fetch;
    const ca = [...getCACertificates(), ...(added as string[])];
    return (url, init) => ask(new URL(url), init, ca, surroundings?.hosts ?? {});
  };

function ask(
  url: URL,
  { method = "GET", headers, signal }: RequestInit,
  ca: string[],
  hosts: Surroundings["hosts"],
): Promise<Response> {
  const address = hosts[url.hostname];
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ca,
      ...(address === undefined ? {} : { lookup: always(address) }),
      ...(signal ? { signal } : {}),
    };
    request(url, options, (message) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk: Buffer) => chunks.push(chunk));
      message.on("end", () => resolve(new Response(Buffer.concat(chunks), { status: message.statusCode ?? 500 })));
      message.on("error", reject);
    })
      .on("error", reject)
      .end();
  });
}
