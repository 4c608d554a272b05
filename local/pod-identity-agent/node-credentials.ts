import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { NodeCredentials } from "./agent.ts";

/** Credentials that expire sooner are fetched anew (the SDKs' own time). */
const LEAST_MS = 300_000;

/** Path at which the gateway gives a node the credentials of its role. */
const nodeCredentialsPath = (cluster: string, node: number): string => `/nodes/${cluster}/${node}/credentials`;

/** The node of such a path; undefined for any other. */
export function nodeCredentialsRoute(path: string): { readonly cluster: string; readonly node: number } | undefined {
  const [, cluster, node] = /^\/nodes\/([0-9A-Za-z_.-]+)\/(\d)\/credentials$/.exec(path) ?? [];
  return cluster === undefined || node === undefined ? undefined : { cluster, node: Number(node) };
}

/** Gives a function that asks the gateway, over its unix socket, for the credentials of a node's role: what a metadata service does on EC2. */
export function nodeCredentialsFrom({ socket, cluster, node }: { socket: string; cluster: string; node: number }) {
  let known: NodeCredentials | undefined;
  return async (): Promise<NodeCredentials> => {
    if (known === undefined || Date.parse(known.expiration) - Date.now() < LEAST_MS)
      known = await ask(socket, nodeCredentialsPath(cluster, node));
    return known;
  };
}

async function ask(socketPath: string, path: string): Promise<NodeCredentials> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, path, agent: false }, resolve).on("error", reject).end();
  });
  const said = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`the node gets no credentials of its role: ${said}`);
  return JSON.parse(said) as NodeCredentials;
}
