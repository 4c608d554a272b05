import { createSign } from "node:crypto";
import type { Fetch } from "../upstream/http.ts";
import { type Finding, unchecked, wrong } from "./finding.ts";
import { answered, send, tryRead } from "./git-https.ts";
import { type CredentialQuestion, type Source, withCredential } from "./git-sources.ts";

/** The JWT by which GitHub knows an app ("Generating a JSON Web Token (JWT) for a GitHub App"): ten minutes at most, the clock may differ. */
function appToken(appId: string, privateKey: string): string {
  const issued = Math.floor(Date.now() / 1000) - 60;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: issued, exp: issued + 360, iss: appId })}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(privateKey, "base64url")}`;
}

/** Whether the GitHub App that Flux has gets a token, and reads the branch with it. */
export function checkApp(
  source: Source,
  { fetch, baseUrl }: { readonly fetch: Fetch; readonly baseUrl: string },
  credential: CredentialQuestion["credential"],
): Promise<Finding> {
  const title = `GitHub App for ${source.repository}`;
  const members = ["githubAppID", "githubAppInstallationID", "githubAppPrivateKey"];
  const question = { title, source, members, afterwards: "run this again then", credential };
  return withCredential(question, ([appId = "", installation = "", privateKey = ""]) => {
    const api = new URL(baseUrl || "https://api.github.com");
    return answered(title, api.host, async () => {
      const { status, text } = await send(
        fetch,
        `${api.href.replace(/\/$/, "")}/app/installations/${installation}/access_tokens`,
        {
          method: "POST",
          headers: {
            authorization: `Bearer ${appToken(appId, privateKey)}`,
            accept: "application/vnd.github+json",
            "user-agent": "eks-gitops-fleet",
          },
        },
      );
      if (status === 401)
        return wrong(
          title,
          `app ${appId} is not known to ${api.host}, or its key is not (status 401)`,
          "compare githubAppId with the app's settings, make a new private key there, pulumi config set --secret githubAppPrivateKey, then pulumi up",
        );
      if (status === 404)
        return wrong(
          title,
          `app ${appId} has no installation ${installation} (status 404)`,
          "the number stands at the end of the URL of the installation's settings: pulumi config set githubAppInstallationId",
        );
      if (status !== 201) return unchecked(title, `${api.host} answers with status ${status}`, "try again later");
      const { token: password } = JSON.parse(text) as { token: string };
      const renew = "install the app on the repository, with Contents: read";
      return answered(title, source.url.host, () =>
        tryRead({ title, source, fetch, username: "x-access-token", password, renew }),
      );
    });
  });
}
