import { appServerProblems } from "../../infra/git-rules.ts";
import { keys } from "../../infra/settings.ts";
import type { GitProvider } from "../../lib/bridge.ts";
import { givesTokensFor } from "../../lib/github-api.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import type { FleetFacts } from "../fleet/facts.ts";
import { newDeployKey } from "../sealing/deploy-key.ts";
import { refuse } from "../usage.ts";
import { hostProblems } from "./rules.ts";

/**
 * How Flux reads a team's repository, and which host keys or authorities it trusts; by default those that the fleet trusts for
 * gitops-workloads.
 */
export interface AppAccess {
  /** Lines of known_hosts, for ssh://. */
  readonly knownHosts?: string | undefined;
  /** PEM of the authorities that sign the host's certificate, for https://. */
  readonly caCertificate?: string | undefined;
  readonly token?: string | undefined;
  /** User name for the token; default: git. */
  readonly username?: string | undefined;
  readonly githubAppId?: string | undefined;
  readonly githubAppInstallationId?: string | undefined;
  /** PEM. */
  readonly githubAppKey?: string | undefined;
  /** API of the app's GitHub server; default: the fleet's where that is the repository's server, or github.com's. */
  readonly githubAppBaseUrl?: string | undefined;
  /** Token with which Flux writes the state of commits. */
  readonly commitStatusToken?: string | undefined;
  /** Token with which Flux commits new images, over https://. */
  readonly autoUpdateToken?: string | undefined;
}

export interface AppCredential {
  /** The Secret's members, as Flux reads them. */
  readonly data: Readonly<Record<string, string>>;
  readonly provider: GitProvider;
  /** Public half of the new deploy key; undefined over HTTPS. */
  readonly publicKey?: string;
}

const appFlags = ["githubAppId", "githubAppInstallationId", "githubAppKey"] as const;
const flags = {
  token: "--token-file",
  username: "--username",
  githubAppId: "--github-app-id",
  githubAppInstallationId: "--github-app-installation-id",
  githubAppKey: "--github-app-key-file",
  githubAppBaseUrl: "--github-app-base-url",
  caCertificate: "--ca-file",
  knownHosts: "--known-hosts",
} as const;

type Flag = keyof typeof flags;

const given = <F extends Flag>(access: AppAccess, names: readonly F[]): F[] =>
  names.filter((name) => access[name] !== undefined);

const atGithub = "see the settings of the app at GitHub";
/** The form of each value, by the rules for the stack's configuration. None may be empty here: an option that isn't used is left out. */
const forms = {
  username: {
    rule: keys.gitUsername,
    what: "is not a user name",
    allowed: "no spaces",
    remedy: "leave it out for git",
  },
  githubAppId: {
    rule: keys.githubAppId,
    what: "is not a number",
    allowed: "the number that GitHub shows",
    remedy: atGithub,
  },
  githubAppInstallationId: {
    rule: keys.githubAppInstallationId,
    what: "is not a number",
    allowed: "the number that GitHub shows",
    remedy: atGithub,
  },
  githubAppKey: {
    rule: keys.githubAppPrivateKey,
    what: "is not a file with the private key of a GitHub App",
    allowed: "an RSA private key in PEM",
    remedy: "make a private key in the settings of the app at GitHub",
  },
  githubAppBaseUrl: {
    rule: keys.githubAppBaseUrl,
    what: "is not the URL of an API",
    allowed: "https://host/path without a slash at the end",
    remedy: "leave it out for github.com",
  },
  caCertificate: {
    rule: keys.gitCaCertificate,
    what: "is not a file with certificates alone",
    allowed: "certificates in PEM and no other block, such as a private key",
    remedy: "leave it out to trust the authorities that the fleet trusts",
  },
} as const;

/** Problems of values that have another form. The content of a file is never shown: it may be a private key that was given by mistake. */
function formProblems(access: AppAccess, names: readonly (keyof typeof forms)[]): Problem[] {
  return given(access, names).flatMap((name) => {
    const { rule, ...rest } = forms[name];
    const value = access[name] ?? "";
    if (value !== "" && rule.parse(value) !== undefined) return [];
    const isFile = name === "githubAppKey" || name === "caCertificate";
    return [{ key: flags[name], got: value === "" ? "(empty)" : isFile ? "(not shown)" : shown(value), ...rest }];
  });
}

const serverProblems = (url: URL, baseUrl: string): Problem[] =>
  appServerProblems(url, baseUrl, {
    key: flags.githubAppBaseUrl,
    remedy: (api) => `give the API of the server that has the repository: ${flags.githubAppBaseUrl} ${api}`,
  });

/** Problems of flags that don't fit the scheme of the URL, or each other. */
function misplaced(access: AppAccess, names: readonly Flag[], why: string): Problem[] {
  return given(access, names).map((name) => ({
    key: flags[name],
    what: why,
    got: "(given)",
    allowed: "--known-hosts with ssh://; --token-file with --username, or --github-app-…, with https://",
    remedy: "leave it out, or change --repository-url",
  }));
}

function httpsProblems(url: URL, access: AppAccess): Problem[] {
  const { token, githubAppBaseUrl } = access;
  const byApp = given(access, appFlags);
  if (token === undefined && byApp.length === 0)
    return [
      {
        key: flags.token,
        what: "is missing: over https:// Flux needs a token or a GitHub App of the team",
        got: "(nothing)",
        allowed: "a file with an access token, or the three of --github-app-…",
        remedy:
          "create one that may read this repository only, or use an ssh:// URL, for which the command makes a deploy key",
      },
    ];
  if (token !== undefined)
    return [
      ...misplaced(access, [...appFlags, "githubAppBaseUrl"], "is for a GitHub App, and --token-file is given"),
      ...formProblems(access, ["username", "caCertificate"]),
      ...(/^\S+$/.test(token.trim())
        ? []
        : [
            {
              key: flags.token,
              what: "is not a file with one access token",
              got: "(not shown)",
              allowed: "one line",
              remedy: "write the token alone into the file",
            },
          ]),
    ];
  const badForms = formProblems(access, [...appFlags, "githubAppBaseUrl", "caCertificate"]);
  const isUrl = !badForms.some(({ key }) => key === flags.githubAppBaseUrl);
  return [
    ...misplaced(access, ["username"], "is for a token, and a GitHub App is given"),
    ...appFlags
      .filter((name) => access[name] === undefined)
      .map((name) => ({
        key: flags[name],
        what: "is missing for a GitHub App",
        got: "(nothing)",
        allowed: "all three of --github-app-…",
        remedy: atGithub,
      })),
    ...badForms,
    ...(githubAppBaseUrl !== undefined && isUrl ? serverProblems(url, githubAppBaseUrl) : []),
  ];
}

/**
 * Problems of the access to a repository at `url` that show without asking the fleet.
 * @param writesStatus whether Flux also calls the Git host over HTTPS, to write the state of commits
 */
export function accessProblems(url: URL, access: AppAccess, writesStatus = false): Problem[] {
  const ofHttps = ["token", "username", ...appFlags, "githubAppBaseUrl"] as const;
  const why = "does not fit an ssh:// URL";
  if (url.protocol === "ssh:" && writesStatus)
    return [...misplaced(access, ofHttps, why), ...formProblems(access, ["caCertificate"])];
  return url.protocol === "ssh:"
    ? misplaced(access, [...ofHttps, "caCertificate"], why)
    : [...misplaced(access, ["knownHosts"], "does not fit an https:// URL"), ...httpsProblems(url, access)];
}

const present = (data: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => Boolean(entry[1])));

/**
 * The credential of an application: over SSH a deploy key of its own, over HTTPS the team's. Never the fleet's, which
 * would open the fleet's repositories to the application's namespace.
 * @throws UsageError when the host's key or the API of the host's GitHub server is not known
 */
export async function appCredential(
  { repositoryUrl, owner }: { readonly repositoryUrl: string; readonly owner: string },
  access: AppAccess,
  fleet: FleetFacts,
): Promise<AppCredential> {
  const trusted = async (member: string) => (await fleet.credential("gitops-workloads"))[member];
  const url = new URL(repositoryUrl);
  if (url.protocol === "ssh:") {
    const hosts = access.knownHosts ?? (await trusted("known_hosts")) ?? "";
    refuse("onboard", hostProblems(repositoryUrl, hosts));
    const data = newDeployKey(owner, hosts);
    return { data, provider: "generic", publicKey: data["identity.pub"] };
  }
  const authority = { "ca.crt": access.caCertificate ?? (await trusted("ca.crt")) };
  if (access.token !== undefined) {
    const basic = { username: access.username ?? "git", password: access.token.trim() };
    return { data: present({ ...basic, ...authority }), provider: "generic" };
  }
  const ofFleet = (await trusted("githubAppBaseURL")) ?? "";
  const baseUrl = access.githubAppBaseUrl ?? (givesTokensFor(url, ofFleet) ? ofFleet : "");
  refuse("onboard", serverProblems(url, baseUrl));
  const app = {
    githubAppID: access.githubAppId,
    githubAppInstallationID: access.githubAppInstallationId,
    githubAppPrivateKey: access.githubAppKey,
    githubAppBaseURL: baseUrl,
  };
  return { data: present({ ...app, ...authority }), provider: "github" };
}
