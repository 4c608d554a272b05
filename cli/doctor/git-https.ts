import type { Fetch } from "../upstream/http.ts";
import { type Finding, ok, unchecked, wrong } from "./finding.ts";
import { type CredentialQuestion, type Source, withCredential, withoutBranch } from "./git-sources.ts";
import type { Connect } from "./surroundings.ts";

const SECONDS = 30;

export interface Attempt {
  readonly title: string;
  readonly source: Source;
  readonly fetch: Fetch;
  readonly username: string;
  readonly password: string;
  /** What to do if the credential does not open the repository. */
  readonly renew: string;
}

/** Lists the branches of a repository by the smart HTTP protocol (git, "http-protocol"). */
export async function tryRead({ title, source, fetch, username, password, renew }: Attempt): Promise<Finding> {
  const { url, branch } = source;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const { status, text } = await send(fetch, `${url.href.replace(/\/$/, "")}/info/refs?service=git-upload-pack`, {
    headers: { authorization },
  });
  if (status === 200)
    return text.split(/[\n\0 ]/).includes(`refs/heads/${branch}`)
      ? ok(title, `reads ${branch} of ${url.href}`)
      : withoutBranch(title, source);
  if (status === 401 || status === 403)
    return wrong(title, `is not accepted by ${url.host}, or has expired (status ${status})`, renew);
  // Git hosts answer 404 for repositories that a credential may not read.
  if (status === 404) return wrong(title, `may not read ${url.href}, or it does not exist (status 404)`, renew);
  return unchecked(title, `${url.host} answers with status ${status}`, "try again later");
}

/** A request with its answer's text. */
export async function send(fetch: Fetch, url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(SECONDS * 1000) });
  return { status: response.status, text: await response.text() };
}

/** The finding of an attempt, or that the host did not answer. */
export async function answered(title: string, host: string, attempt: () => Promise<Finding>): Promise<Finding> {
  try {
    return await attempt();
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    return unchecked(
      title,
      `${host} did not answer: ${why}`,
      "check that the host is right and reachable from here, and that gitCaCertificate contains its authority, then pulumi up",
    );
  }
}

/** Whether Flux's token can read the branch. */
export function checkToken(
  source: Source,
  connect: Connect,
  credential: CredentialQuestion["credential"],
): Promise<Finding> {
  const title = `token for ${source.repository}`;
  const renew = "make a token that may read the repository, pulumi config set --secret gitToken, then pulumi up";
  const question = {
    title,
    source,
    members: ["username", "password"],
    afterwards: "run fleet doctor again after it",
    credential,
  };
  return withCredential(question, ({ username = "", password = "", "ca.crt": authorities = "" }) =>
    answered(title, source.url.host, () =>
      tryRead({ title, source, fetch: connect(authorities), username, password, renew }),
    ),
  );
}
