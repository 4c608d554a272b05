import { githubApi, givesTokensFor } from "../lib/github-api.ts";
import { gitHost, knows } from "../lib/known-hosts.ts";
import { type Problem, shown } from "../lib/problems.ts";
import { receiverTypes } from "../lib/receivers.ts";
import { type Readable, setCommand } from "./settings.ts";

const urlKeys = ["gitopsSystemRepoUrl", "gitopsWorkloadsRepoUrl"] as const;

function knownHostsRule(settings: Readable, urls: readonly URL[]): Problem[] {
  const { gitKnownHosts } = settings;
  if (gitKnownHosts === undefined) return [];
  const hosts = new Map(urls.filter(({ protocol }) => protocol === "ssh:").map((url) => [url.host, gitHost(url)]));
  return [...hosts.values()]
    .filter(({ name }) => !knows(gitKnownHosts, name))
    .map(({ name, scan }) => ({
      key: "gitKnownHosts",
      what: `has no key of the Git host ${name}, so Flux could not tell it from an impostor`,
      got: shown(gitKnownHosts),
      allowed: "a known_hosts line for each host of an ssh:// URL",
      remedy: `compare the key with the one that the host publishes, then pulumi config set gitKnownHosts "$(${scan})"`,
    }));
}

const protocolOf = { "deploy-key": "ssh:", token: "https:", "github-app": "https:" } as const;

function urlRules(settings: Readable): Problem[] {
  const { gitAuthentication: method } = settings;
  return urlKeys.flatMap((key) => {
    const url = settings[key];
    if (url === undefined) return [];
    if (url === "") {
      return [
        {
          key,
          what: "is not set",
          got: "(empty)",
          allowed: "ssh://user@host/path.git or https://host/path.git",
          remedy: setCommand(key),
        },
      ];
    }
    if (method === undefined || new URL(url).protocol === protocolOf[method]) return [];
    return [
      {
        key,
        what: `does not fit gitAuthentication ${method}`,
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

function credentialRules(settings: Readable): Problem[] {
  const { gitAuthentication: method } = settings;
  if (method === undefined) return [];
  return requiredBy[method]
    .filter((key) => settings[key] === "")
    .map((key) => ({
      key,
      what: `is required with gitAuthentication ${method}`,
      got: "(empty)",
      allowed: "a value",
      remedy: setCommand(key),
    }));
}

/**
 * The problem of a GitHub App whose tokens come from the API of another server than the repository's: they are valid at their own server
 * only. An empty `baseUrl` is the API of github.com.
 */
export function appServerProblems(
  url: URL,
  baseUrl: string,
  { key, remedy }: { readonly key: string; readonly remedy: (api: string) => string },
): Problem[] {
  if (givesTokensFor(url, baseUrl)) return [];
  return [
    {
      key,
      what:
        baseUrl === ""
          ? `is not set, so Flux would ask github.com for a token for ${url.host}`
          : `is the API of another server, whose tokens do not open ${url.host}`,
      got: baseUrl === "" ? "(empty)" : shown(baseUrl),
      allowed: `the API of the GitHub server ${url.host}`,
      remedy: remedy(githubApi(url)),
    },
  ];
}

/** A GitHub App belongs to one server: both repositories must be there, and its tokens must come from there. */
function appServerRule({ gitAuthentication, githubAppBaseUrl }: Readable, urls: readonly URL[]): Problem[] {
  const [first, ...others] = urls.filter(({ protocol }) => protocol === "https:");
  if (gitAuthentication !== "github-app" || githubAppBaseUrl === undefined || first === undefined) return [];
  const elsewhere = others.find(({ host }) => host !== first.host);
  if (elsewhere !== undefined)
    return [
      {
        key: "gitopsWorkloadsRepoUrl",
        what: "is at another host than gitopsSystemRepoUrl, and a GitHub App belongs to one server",
        got: elsewhere.href,
        allowed: `a repository at ${first.host}`,
        remedy: "change one of the URLs, or use gitAuthentication deploy-key",
      },
    ];
  return appServerProblems(first, githubAppBaseUrl, {
    key: "githubAppBaseUrl",
    remedy: (api) => `pulumi config set githubAppBaseUrl ${api}`,
  });
}

/** Networks for calls that nothing takes. */
function receiverRule({ gitReceiver, gitReceiverCidrs = [] }: Readable): Problem[] {
  if (gitReceiver !== "none" || gitReceiverCidrs.length === 0) return [];
  return [
    {
      key: "gitReceiverCidrs",
      what: "has no effect without a gitReceiver",
      got: gitReceiverCidrs.join(", "),
      allowed: `empty, or gitReceiver ${receiverTypes.join(", ")}`,
      remedy: "pulumi config set gitReceiver github, or pulumi config rm gitReceiverCidrs",
    },
  ];
}

/** Rules over the keys of Git: URLs, host keys and credentials must fit together. */
export function gitRules(settings: Readable): readonly Problem[] {
  const urls = urlKeys.flatMap((key) => (settings[key] ? [new URL(settings[key])] : []));
  return [
    ...urlRules(settings),
    ...knownHostsRule(settings, urls),
    ...credentialRules(settings),
    ...appServerRule(settings, urls),
    ...receiverRule(settings),
  ];
}
