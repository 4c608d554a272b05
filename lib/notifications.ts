/**
 * What Flux tells people: Providers and Alerts of notification-controller (1.9, docs/spec/v1beta3/providers.md and alerts.md).
 */

/** Types that write the state of a commit to its Git host. Their Secrets have the same members: `token`, and `ca.crt` for a private authority. */
export const commitStatusTypes = ["github", "gitlab", "gitea", "bitbucketserver"] as const;
export type CommitStatusType = (typeof commitStatusTypes)[number];

/** Types that send a message for each event. */
const messageTypes = ["slack", "msteams", "generic", "generic-hmac"] as const;

export const notificationTypes = [...messageTypes, ...commitStatusTypes] as const;
export type NotificationType = (typeof notificationTypes)[number];

export const isCommitStatus = (type: NotificationType): type is CommitStatusType =>
  commitStatusTypes.some((known) => known === type);

/** The least severe events that are told. */
export const severities = ["info", "error"] as const;
export type Severity = (typeof severities)[number];

/**
 * Kinds of Flux whose events are told. A HelmRelease whose chart can't be fetched says nothing itself: its HelmChart does, or the
 * HelmRepository (helm-controller 1.6, internal/controller/helmrelease_controller.go, "SourceNotReady").
 */
export const eventKinds = [
  "ArtifactGenerator",
  "GitRepository",
  "HelmChart",
  "HelmRelease",
  "HelmRepository",
  "Kustomization",
] as const;

/** Kind, name and namespace of objects of Flux whose events are told. */
export interface EventSource {
  readonly kind: (typeof eventKinds)[number];
  /** `*` for all. */
  readonly name: string;
  /** The Alert's by default. Another one counts only where Flux takes references to other namespaces, as on the hub. */
  readonly namespace?: string;
}

/** One part of a URL, without what ends it, quotes it in YAML or is substituted by Flux. */
const part = String.raw`[^\s@/?#"'\\$]+`;

/**
 * Addresses of repositories at which a type finds their commits. Bitbucket Server has `/scm/` in its clone URLs, by which Flux finds
 * project and repository (internal/notifier/bitbucketserver.go, parseBitbucketServerGitAddress); of others Flux takes the whole path.
 */
export const commitStatusAddress = (type: CommitStatusType) =>
  type === "bitbucketserver"
    ? {
        pattern: new RegExp(`^https://${part}(/${part})*/scm/${part}/${part}$`),
        allowed: "https://host/scm/project/repository.git, without a credential",
      }
    : {
        pattern: new RegExp(`^https://${part}(/${part})+$`),
        allowed: "https://host/owner/repository, without a credential",
      };

/** Where a repository is at its Git host over HTTPS, by the URL that it is cloned from. */
export function repositoryAddress(url: string): string {
  const { hostname, host, pathname, protocol } = new URL(url);
  return `https://${protocol === "https:" ? host : hostname}${pathname}`;
}
