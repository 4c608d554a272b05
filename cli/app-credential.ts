import { createPrivateKey } from "node:crypto";
import type { GitProvider } from "../lib/bridge.ts";
import { type Mistake, shown } from "../lib/mistakes.ts";
import { hostMistakes } from "./app-rules.ts";
import { newDeployKey } from "./deploy-key.ts";
import type { Fleet } from "./sources.ts";
import { refuse } from "./usage.ts";

/** What lets Flux read a team's repository, and whom it trusts there; by default what the fleet trusts for gitops-workloads. */
export interface AppAccess {
  /** Lines of known_hosts, for ssh://. */
  readonly knownHosts?: string | undefined;
  /** PEM of the authorities behind the host's certificate, for https://. */
  readonly caCertificate?: string | undefined;
  readonly token?: string | undefined;
  /** Goes with the token; default: git. */
  readonly username?: string | undefined;
  readonly githubAppId?: string | undefined;
  readonly githubAppInstallationId?: string | undefined;
  /** PEM. */
  readonly githubAppKey?: string | undefined;
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
  caCertificate: "--ca-file",
  knownHosts: "--known-hosts",
} as const;

type Flag = keyof typeof flags;

const given = (access: AppAccess, names: readonly Flag[]) => names.filter((name) => access[name] !== undefined);

function isRsaKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

/** Flags that don't go with the scheme of the URL, or with each other. */
function misplaced(access: AppAccess, names: readonly Flag[], why: string): Mistake[] {
  return given(access, names).map((name) => ({
    key: flags[name],
    problem: why,
    got: "(given)",
    allowed: "--known-hosts with ssh://; --token-file with --username, or the three of --github-app-…, with https://",
    remedy: "leave it out, or change --repository-url",
  }));
}

function httpsMistakes(access: AppAccess): Mistake[] {
  const { token, githubAppKey } = access;
  const byApp = given(access, appFlags);
  if (token === undefined && byApp.length === 0)
    return [
      {
        key: flags.token,
        problem: "is missing: over https:// Flux needs a token or a GitHub App of the team's",
        got: "(nothing)",
        allowed: "a file with an access token, or the three of --github-app-…",
        remedy: "make one that may read this repository only, or use an ssh:// URL, for which a deploy key is made",
      },
    ];
  if (token !== undefined)
    return [
      ...misplaced(access, appFlags, "is for a GitHub App, and --token-file is given"),
      ...(/^\S+$/.test(token.trim())
        ? []
        : [
            {
              key: flags.token,
              problem: "is not a file with one access token",
              got: "(not shown)",
              allowed: "one line",
              remedy: "write the token alone into the file",
            },
          ]),
    ];
  return [
    ...misplaced(access, ["username"], "is for a token, and a GitHub App is given"),
    ...appFlags
      .filter((name) => access[name] === undefined)
      .map((name) => ({
        key: flags[name],
        problem: "is missing for a GitHub App",
        got: "(nothing)",
        allowed: "all three of --github-app-…",
        remedy: "see the settings of the app at GitHub",
      })),
    ...(["githubAppId", "githubAppInstallationId"] as const)
      .filter((name) => access[name] !== undefined && !/^\d+$/.test(access[name]))
      .map((name) => ({
        key: flags[name],
        problem: "is not a number",
        got: shown(access[name] ?? ""),
        allowed: "the number that GitHub shows",
        remedy: "see the settings of the app at GitHub",
      })),
    ...(githubAppKey === undefined || isRsaKey(githubAppKey)
      ? []
      : [
          {
            key: flags.githubAppKey,
            problem: "is not a file with the private key of a GitHub App",
            got: "(not shown)",
            allowed: "an RSA private key in PEM",
            remedy: "make a private key in the settings of the app at GitHub",
          },
        ]),
  ];
}

/** What is wrong with the means of access to a repository at `url`, by itself. */
export function accessMistakes(url: URL, access: AppAccess): Mistake[] {
  return url.protocol === "ssh:"
    ? misplaced(access, ["token", "username", ...appFlags, "caCertificate"], "does not go with an ssh:// URL")
    : [...misplaced(access, ["knownHosts"], "does not go with an https:// URL"), ...httpsMistakes(access)];
}

const present = (data: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => Boolean(entry[1])));

/**
 * The credential of an application: over SSH a deploy key of its own, over HTTPS what the team gave. Never the fleet's, which
 * would open the fleet's repositories to the application's namespace.
 * @throws UsageError when the host's key is not known.
 */
export async function appCredential(
  { repositoryUrl, owner }: { readonly repositoryUrl: string; readonly owner: string },
  access: AppAccess,
  fleet: Fleet,
): Promise<AppCredential> {
  const trusted = async (member: string) => (await fleet.credential("gitops-workloads"))[member];
  if (new URL(repositoryUrl).protocol === "ssh:") {
    const hosts = access.knownHosts ?? (await trusted("known_hosts")) ?? "";
    refuse("onboard", hostMistakes(repositoryUrl, hosts));
    const { identity, publicKey } = newDeployKey(owner);
    return { data: { identity, "identity.pub": publicKey, known_hosts: hosts }, provider: "generic", publicKey };
  }
  const authority = { "ca.crt": access.caCertificate ?? (await trusted("ca.crt")) };
  if (access.token !== undefined) {
    const basic = { username: access.username ?? "git", password: access.token.trim() };
    return { data: present({ ...basic, ...authority }), provider: "generic" };
  }
  const app = {
    githubAppID: access.githubAppId,
    githubAppInstallationID: access.githubAppInstallationId,
    githubAppPrivateKey: access.githubAppKey,
    githubAppBaseURL: await trusted("githubAppBaseURL"),
  };
  return { data: present({ ...app, ...authority }), provider: "github" };
}
