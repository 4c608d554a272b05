/** GitHub in the cloud, where the API has a name of its own; a GitHub Enterprise Server has it at /api/v3. */
const isCloud = (hostname: string) => hostname === "github.com" || hostname.endsWith(".ghe.com");

/**
 * API of the GitHub server that has a repository (GitHub Docs, "Getting started with data residency for GitHub Enterprise Cloud",
 * TARGET-GHE-API-URL, and "Getting started with the REST API" of GitHub Enterprise Server).
 */
export const githubApi = ({ host, hostname }: URL): string =>
  isCloud(hostname) ? `https://api.${host}` : `https://${host}/api/v3`;

/** Whether the tokens that an API gives are good for a repository; an empty `baseUrl` is the API of github.com, as for Flux. */
export function givesTokensFor({ hostname }: URL, baseUrl: string): boolean {
  const api = new URL(baseUrl || "https://api.github.com").hostname;
  return api === `api.${hostname}` || (api === hostname && !isCloud(hostname));
}
