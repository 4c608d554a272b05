import { createSign } from "node:crypto";
import { setCommand } from "../../infra/settings.ts";
import { type Finding, unchecked, wrong } from "./finding.ts";
import { answered, send, tryRead } from "./git-https.ts";
import { type CredentialQuestion, type Source, withCredential } from "./git-sources.ts";
import type { Connect } from "./surroundings.ts";

/**
 * The JWT with which an app authenticates at GitHub ("Generating a JSON Web Token (JWT) for a GitHub App"): ten minutes at most, the
 * clock may differ. Undefined when the key can't sign it.
 */
function appToken(appId: string, privateKey: string): string | undefined {
  const issued = Math.floor(Date.now() / 1000) - 60;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: issued, exp: issued + 360, iss: appId })}`;
  try {
    return `${text}.${createSign("RSA-SHA256").update(text).sign(privateKey, "base64url")}`;
  } catch {
    return undefined;
  }
}

/** The token in an answer of the API; undefined when there is none. */
function tokenIn(text: string): string | undefined {
  try {
    const { token } = JSON.parse(text) as { token?: unknown };
    return typeof token === "string" ? token : undefined;
  } catch {
    return undefined;
  }
}

const newKey = `make a new private key in the app's settings, ${setCommand("githubAppPrivateKey")}, then pulumi up`;

interface Question {
  readonly title: string;
  readonly appId: string;
  readonly installation: string;
  /** Host of the API. */
  readonly host: string;
}

/** The finding for an answer without a token. */
function refused(
  { title, appId, installation, host }: Question,
  { status, text }: { readonly status: number; readonly text: string },
): Finding {
  if (status === 201)
    return wrong(
      title,
      `${host} answers with no token, so it is not the API of a GitHub server`,
      "name the API in githubAppBaseUrl, such as https://<host>/api/v3, then pulumi up",
    );
  if (status === 401)
    return wrong(
      title,
      `app ${appId} is not known to ${host}, or its key is not (status 401)`,
      `compare githubAppId with the app's settings, or ${newKey}`,
    );
  if (status === 404)
    return wrong(
      title,
      `app ${appId} has no installation ${installation} (status 404)`,
      "the number is at the end of the URL of the installation's settings: pulumi config set githubAppInstallationId",
    );
  // A rate limit is a 403 too; the message tells them apart (octokit.rb, InstallationSuspended).
  if (status === 403 && /suspended/i.test(text))
    return wrong(
      title,
      `installation ${installation} is suspended (status 403)`,
      "unsuspend it in its settings at GitHub, or ask the app's owner to, if the owner suspended it",
    );
  return unchecked(title, `${host} answers with status ${status}`, "try again later");
}

/** Whether Flux's GitHub App gets a token from the API that Flux uses, and can read the branch with it. */
export function checkApp(
  source: Source,
  connect: Connect,
  credential: CredentialQuestion["credential"],
): Promise<Finding> {
  const title = `GitHub App for ${source.repository}`;
  const members = ["githubAppID", "githubAppInstallationID", "githubAppPrivateKey"];
  const question = { title, source, members, afterwards: "run fleet doctor again after it", credential };
  return withCredential(question, async (secret) => {
    const { githubAppID: appId = "", githubAppInstallationID: installation = "", githubAppPrivateKey = "" } = secret;
    const api = new URL(secret["githubAppBaseURL"] || "https://api.github.com");
    const fetch = connect(secret["ca.crt"] ?? "");
    const jwt = appToken(appId, githubAppPrivateKey);
    if (jwt === undefined)
      return wrong(title, "the key in Secrets Manager can't sign: it is not an RSA private key", newKey);
    return answered(title, api.host, async () => {
      const answer = await send(
        fetch,
        `${api.href.replace(/\/$/, "")}/app/installations/${installation}/access_tokens`,
        {
          method: "POST",
          headers: {
            authorization: `Bearer ${jwt}`,
            accept: "application/vnd.github+json",
            "user-agent": "eks-gitops-fleet",
          },
        },
      );
      const password = answer.status === 201 ? tokenIn(answer.text) : undefined;
      if (password === undefined) return refused({ title, appId, installation, host: api.host }, answer);
      const renew =
        "install the app on the repository, with Contents: read, and accept that in the installation's settings";
      return answered(title, source.url.host, () =>
        tryRead({ title, source, fetch, username: "x-access-token", password, renew }),
      );
    });
  });
}
