/** Whether a host is GitHub in the cloud, whose API has its own host name. A GitHub Enterprise Server serves its API at /api/v3. */
export const isGitHubCloud = (hostname: string): boolean => hostname === "github.com" || hostname.endsWith(".ghe.com");

/**
 * API of the GitHub server that has a repository (GitHub Docs, "Getting started with data residency for GitHub Enterprise Cloud",
 * TARGET-GHE-API-URL, and "Getting started with the REST API" of GitHub Enterprise Server).
 */
export const githubApi = ({ host, hostname }: URL): string =>
  isGitHubCloud(hostname) ? `https://api.${host}` : `https://${host}/api/v3`;

/** Whether the tokens that an API gives are good for a repository; an empty `baseUrl` is the API of github.com, as for Flux. */
export function givesTokensFor({ hostname }: URL, baseUrl: string): boolean {
  const api = new URL(baseUrl || "https://api.github.com").hostname;
  return api === `api.${hostname}` || (api === hostname && !isGitHubCloud(hostname));
}

/**
 * Host of the issuer of a workflow's OIDC tokens (GitHub Docs, "OpenID Connect reference", "Substituted values on GHE.com").
 * @param hostname GitHub in the cloud
 */
export const actionsIssuer = (hostname: string): string =>
  hostname === "github.com" ? "token.actions.githubusercontent.com" : `token.actions.${hostname}`;
