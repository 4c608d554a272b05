/**
 * What Flux tells people: Providers and Alerts of notification-controller (1.9, docs/spec/v1beta3/providers.md and alerts.md).
 */

/** Types that write the state of a commit to its Git host. Their Secrets have the same members: `token`, and `ca.crt` for a private authority. */
export const commitStatusTypes = ["github", "gitlab", "gitea", "bitbucketserver"] as const;
export type CommitStatusType = (typeof commitStatusTypes)[number];

/** One part of a path, without what ends a URL, quotes it in YAML or is substituted by Flux. */
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
