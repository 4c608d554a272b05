import { setTimeout as sleep } from "node:timers/promises";

/** One request; tests give one that leads every host to a server of their own. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What is referenced is not there, or is not what the reference says. */
export class Wrong extends Error {
  override name = "Wrong";
}

/** No server said whether the reference is right. */
export class Unanswered extends Error {
  override name = "Unanswered";
}

export interface Client {
  readonly fetch: Fetch;
  /** Milliseconds to wait before each retry of a request that the server could not answer. */
  readonly pauses: readonly number[];
  /** Token for GitHub's API, which answers few requests an hour without one. */
  readonly githubToken?: string;
  /** The header with which a registry at this host lets the caller in, who has a login there. */
  readonly login?: (host: string) => Promise<string | undefined>;
}

const timeout = 30_000;

const passing = (status: number): boolean => status === 429 || status >= 500;

/**
 * The answer to a GET, whatever it says; busy and broken servers are asked again.
 * @throws Unanswered when there is none after all tries
 */
export async function ask(client: Client, url: string, init: RequestInit = {}): Promise<Response> {
  let reason = "";
  for (const pause of [0, ...client.pauses]) {
    await sleep(pause);
    try {
      const response = await client.fetch(url, { ...init, signal: AbortSignal.timeout(timeout) });
      if (!passing(response.status)) return response;
      reason = `status ${response.status}`;
    } catch (error) {
      const { message, cause } = error as Error;
      reason = cause instanceof Error ? `${message}: ${cause.message}` : message;
    }
  }
  throw new Unanswered(`${url}: ${reason}`);
}

/**
 * The body of what must be there.
 * @throws Wrong when it is not found, Unanswered when the server says anything else
 */
export async function need(client: Client, url: string, init: RequestInit = {}): Promise<Response> {
  const response = await ask(client, url, init);
  if (response.ok) return response;
  if (response.status === 404 || response.status === 410) throw new Wrong(`${url}: status ${response.status}`);
  throw new Unanswered(`${url}: status ${response.status}`);
}
