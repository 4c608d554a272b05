import { gitHost, knows } from "../lib/known-hosts.ts";
import { type Mistake, shown } from "../lib/mistakes.ts";
import type { Readable } from "./rules.ts";

const urlKeys = ["gitopsSystemRepoUrl", "gitopsWorkloadsRepoUrl"] as const;

function knownHostsRule(settings: Readable, urls: readonly URL[]): Mistake[] {
  const { gitKnownHosts } = settings;
  if (gitKnownHosts === undefined) return [];
  const hosts = new Map(urls.filter(({ protocol }) => protocol === "ssh:").map((url) => [url.host, gitHost(url)]));
  return [...hosts.values()]
    .filter(({ name }) => !knows(gitKnownHosts, name))
    .map(({ name, scan }) => ({
      key: "gitKnownHosts",
      problem: `has no key of the Git host ${name}, so Flux could not tell it from an impostor`,
      got: shown(gitKnownHosts),
      allowed: "a known_hosts line for each host of an ssh:// URL",
      remedy: `compare the key with the one that the host publishes, then pulumi config set gitKnownHosts "$(${scan})"`,
    }));
}

const protocolOf = { "deploy-key": "ssh:", token: "https:", "github-app": "https:" } as const;

function urlRules(settings: Readable): Mistake[] {
  const { gitAuthentication: method } = settings;
  return urlKeys.flatMap((key) => {
    const url = settings[key];
    if (url === undefined) return [];
    if (url === "") {
      return [
        {
          key,
          problem: "is not set",
          got: "(empty)",
          allowed: "ssh://user@host/path.git or https://host/path.git",
          remedy: `pulumi config set ${key} ssh://git@github.com/<org>/<repository>.git`,
        },
      ];
    }
    if (method === undefined || new URL(url).protocol === protocolOf[method]) return [];
    return [
      {
        key,
        problem: `does not go with gitAuthentication ${method}`,
        got: url,
        allowed: `a URL that begins with ${protocolOf[method]}//`,
        remedy: `change the URL, or gitAuthentication to ${method === "deploy-key" ? "token or github-app" : "deploy-key"}`,
      },
    ];
  });
}

const requiredBy = {
  "deploy-key": [],
  token: ["gitToken"],
  "github-app": ["githubAppId", "githubAppInstallationId", "githubAppPrivateKey"],
} as const;

function credentialRules(settings: Readable): Mistake[] {
  const { gitAuthentication: method } = settings;
  if (method === undefined) return [];
  return requiredBy[method]
    .filter((key) => settings[key] === "")
    .map((key) => ({
      key,
      problem: `is required with gitAuthentication ${method}`,
      got: "(empty)",
      allowed: "a value",
      remedy: `pulumi config set ${key === "gitToken" || key === "githubAppPrivateKey" ? "--secret " : ""}${key}`,
    }));
}

/** A GitHub App's tokens are good at the server whose API gives them: without a base URL that is github.com alone. */
function appServerRule({ gitAuthentication, githubAppBaseUrl }: Readable, urls: readonly URL[]): Mistake[] {
  const other = urls.find(({ protocol, hostname }) => protocol === "https:" && hostname !== "github.com");
  if (gitAuthentication !== "github-app" || githubAppBaseUrl !== "" || other === undefined) return [];
  return [
    {
      key: "githubAppBaseUrl",
      problem: `is not set, so Flux would ask github.com for a token for ${other.host}`,
      got: "(empty)",
      allowed: "the API of the GitHub server that has the repositories",
      remedy: `pulumi config set githubAppBaseUrl https://${other.host}/api/v3`,
    },
  ];
}

/** Rules over the keys of Git: URLs, host keys and credentials must go together. */
export function gitRules(settings: Readable): readonly Mistake[] {
  const urls = urlKeys.flatMap((key) => (settings[key] ? [new URL(settings[key])] : []));
  return [
    ...urlRules(settings),
    ...knownHostsRule(settings, urls),
    ...credentialRules(settings),
    ...appServerRule(settings, urls),
  ];
}
