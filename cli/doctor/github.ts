import { githubApi } from "../../lib/github-api.ts";
import { type Finding, note } from "./finding.ts";
import { send } from "./git-https.ts";
import type { Run } from "./process.ts";
import type { Connect } from "./surroundings.ts";

/** The first version of GitHub's REST API whose answers have `sub_claim_prefix`. */
const API_VERSION = "2026-03-10";

/** An answer of GitHub's API. */
export interface Answer {
  /** 0 if GitHub didn't answer. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** What GitHub says of an error, or why it didn't answer. */
  readonly message: string;
}

/** Sends a GET to GitHub's API; `path` has no leading slash. */
export type Ask = (path: string) => Promise<Answer>;

/** The API of a host as this user may read it; undefined without a token of this user. */
export type GitHub = (host: string) => Promise<Ask | undefined>;

export interface GitHubOptions {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly run: Run;
  readonly connect: Connect;
}

/** The user's token, in the order in which gh takes it ("gh environment"). */
async function token(host: string, { env, run }: GitHubOptions): Promise<string | undefined> {
  const given = env["GH_TOKEN"] || env["GITHUB_TOKEN"];
  if (given) return given;
  const ended = await run("gh", ["auth", "token", "--hostname", host]);
  return ended?.code === 0 ? ended.stdout.trim() || undefined : undefined;
}

function parsed(text: string): Answer["body"] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Answer["body"]) : {};
  } catch {
    return {}; // the status says what happened
  }
}

/** GitHub's API with the token of this user: that of the environment, or of gh. */
export const githubOf =
  (options: GitHubOptions): GitHub =>
  async (host) => {
    const authorization = await token(host, options);
    if (authorization === undefined) return undefined;
    const headers = {
      authorization: `Bearer ${authorization}`,
      accept: "application/vnd.github+json",
      "user-agent": "eks-gitops-fleet",
      "x-github-api-version": API_VERSION,
    };
    const fetch = options.connect("");
    return async (path) => {
      try {
        const { status, text } = await send(fetch, `${githubApi(new URL(`https://${host}`))}/${path}`, { headers });
        const body = parsed(text);
        const { message } = body;
        return { status, body, message: typeof message === "string" ? message : "" };
      } catch (error) {
        const { message, cause } = error as Error;
        return { status: 0, body: {}, message: cause instanceof Error ? cause.message : message };
      }
    };
  };

/** How to get a token that GitHub accepts. */
export const logInToGitHub = "gh auth login, or set GH_TOKEN";

/** The finding for an answer that doesn't tell what was asked. A note, because the fleet itself doesn't need GitHub's API. */
export function unansweredBy(title: string, host: string, { status, message }: Answer): Finding {
  if (status === 0) return note(title, `${host} did not answer: ${message}`, "check that it can be reached from here");
  const said = message === "" ? `status ${status}` : `status ${status}: ${message}`;
  const todo = status === 401 ? logInToGitHub : "give the token the permission, or try again later";
  return note(title, `${host} answers with ${said}`, todo);
}
