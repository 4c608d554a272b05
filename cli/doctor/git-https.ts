import type { Fetch } from "../upstream/http.ts";
import { type Finding, ok, unchecked, wrong } from "./finding.ts";
import { type CredentialQuestion, type Source, withCredential, withoutBranch } from "./git-sources.ts";

const SECONDS = 30;

/** The branches of a repository, as the smart HTTP protocol tells them to whom it lets in (git, "http-protocol"). */
async function ask({ url }: Source, fetch: Fetch, username: string, password: string): Promise<Response> {
  const address = `${url.href.replace(/\/$/, "")}/info/refs?service=git-upload-pack`;
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return fetch(address, { headers: { authorization }, signal: AbortSignal.timeout(SECONDS * 1000) });
}

function judged(title: string, source: Source, status: number, refs: string): Finding {
  const { url, branch } = source;
  const name = `refs/heads/${branch}`;
  if (status === 200)
    return refs.split(/[\n\0 ]/).includes(name)
      ? ok(title, `reads ${branch} of ${url.href}`)
      : withoutBranch(title, source);
  const renew = "make a token that may read the repository, pulumi config set --secret gitToken, then pulumi up";
  if (status === 401 || status === 403)
    return wrong(title, `is not accepted by ${url.host}, or has ended (status ${status})`, renew);
  // Hosts hide from a token what it may not read.
  if (status === 404) return wrong(title, `may not read ${url.href}, or there is none (status 404)`, renew);
  return unchecked(title, `${url.host} answers with status ${status}`, "try again later");
}

/** Whether the token that Flux has reads the branch. */
export function checkToken(
  source: Source,
  fetch: Fetch,
  credential: CredentialQuestion["credential"],
): Promise<Finding> {
  const title = `token for ${source.repository}`;
  const question = { title, source, members: ["username", "password"], afterwards: "run this again then", credential };
  return withCredential(question, async ([username = "", password = ""]) => {
    try {
      const response = await ask(source, fetch, username, password);
      return judged(title, source, response.status, await response.text());
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message : message;
      return unchecked(
        title,
        `${source.url.host} did not answer: ${why}`,
        "see that it is right and reachable from here",
      );
    }
  });
}
