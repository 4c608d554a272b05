import { commitStatusAddress, isCommitStatus, repositoryAddress } from "../lib/notifications.ts";
import { duplicates, type Problem, shown } from "../lib/problems.ts";
import type { NotificationSecret, NotificationSetting } from "./notification-keys.ts";
import type { Readable } from "./settings.ts";

/** Most notifications of a hub: the role of External Secrets names each secret, and IAM limits its policy. */
const most = 20;

const key = "notifications";
const secretKey = "notificationSecrets";
const set = (name: string, member: string) =>
  `pulumi config set --secret --path '${secretKey}["${name}"].${member}', which reads the value from standard input`;

/** Where a notification goes: its own address, its secret one, or of a commit its repository. */
export function addressOf(
  { type, address }: NotificationSetting,
  secret: NotificationSecret | undefined,
  repositoryUrl: string | undefined,
): string | undefined {
  if (secret?.address !== undefined || address !== undefined) return secret?.address ?? address;
  return isCommitStatus(type) && repositoryUrl ? repositoryAddress(repositoryUrl) : undefined;
}

/** Members of the secret that a notification can't do without, with the reason. */
function missingSecret({ name, type, address, channel }: NotificationSetting, secret?: NotificationSecret): Problem[] {
  const needed = (member: "token" | "address", what: string): Problem[] =>
    secret?.[member] !== undefined
      ? []
      : [
          {
            key: secretKey,
            what: `has no ${member} for the notification ${name}: ${what}`,
            got: "(nothing)",
            allowed: `a ${member} for each notification of type ${type}`,
            remedy: set(name, member),
          },
        ];
  switch (type) {
    case "msteams":
      return needed("address", "whoever knows a Teams webhook may post to it");
    case "slack":
      return address === undefined
        ? needed("address", "whoever knows a Slack webhook may post to it")
        : needed("token", `Slack's API takes a bot's token${channel === undefined ? ", and a channel" : ""}`);
    case "generic":
      return [];
    case "generic-hmac":
      return needed("token", "the calls are signed with it");
    case "github":
    case "gitlab":
    case "gitea":
    case "bitbucketserver":
      return needed("token", "the Git host asks for one that may write commit statuses");
  }
}

function addressProblems(
  setting: NotificationSetting,
  secret: NotificationSecret | undefined,
  url?: string,
): Problem[] {
  const { name, type } = setting;
  const address = addressOf(setting, secret, url);
  const isSecret = secret?.address !== undefined;
  const plain = type.startsWith("generic") ? /^https?:\/\/\S+$/ : /^https:\/\/\S+$/;
  const { pattern, allowed } = isCommitStatus(type)
    ? commitStatusAddress(type)
    : { pattern: plain, allowed: type.startsWith("generic") ? "http://… or https://…" : "https://…" };
  if (address === undefined) {
    // Of others the secret one is missing, which is told.
    if (!type.startsWith("generic")) return [];
    return [
      {
        key,
        what: `has no address for ${name}`,
        got: "(nothing)",
        allowed,
        remedy: `give its address, or if that is a secret ${set(name, "address")}`,
      },
    ];
  }
  if (pattern.test(address) && URL.canParse(address)) return [];
  return [
    {
      key: isSecret ? secretKey : key,
      what: `has an address for ${name} that ${type} does not take`,
      got: isSecret ? "(not shown)" : shown(address),
      allowed,
      remedy: isSecret ? set(name, "address") : "give another address",
    },
  ];
}

function ownProblems(setting: NotificationSetting, secret: NotificationSecret | undefined, url?: string): Problem[] {
  const { name, type, severity, channel, address } = setting;
  const problem = (what: string, got: string, allowed: string, remedy: string): Problem => ({
    ...{ key, what, got, allowed, remedy },
  });
  return [
    ...missingSecret(setting, secret),
    ...addressProblems(setting, secret, url),
    ...(address !== undefined && (type === "msteams" || secret?.address !== undefined)
      ? [
          problem(
            `has an address for ${name} that is not used: ${type === "msteams" ? "a Teams webhook is a secret" : `${secretKey} has one`}`,
            "(not shown)",
            `its address in ${secretKey} alone`,
            "leave it out; if it was a webhook's, have the service make a new one",
          ),
        ]
      : []),
    ...(type === "slack" && address !== undefined && channel === undefined
      ? [
          problem(
            `has no channel for ${name}, which Slack's API asks for`,
            "(nothing)",
            "a channel",
            "give its channel",
          ),
        ]
      : []),
    ...(channel !== undefined && type !== "slack"
      ? [
          problem(
            `has a channel for ${name}, which ${type} does not have`,
            channel,
            "a channel of slack",
            "leave it out",
          ),
        ]
      : []),
    ...(isCommitStatus(type) && severity === "error"
      ? [
          problem(
            `has severity error for ${name}: a commit that mends things would get no status`,
            "error",
            "info, which is the default there",
            "leave it out",
          ),
        ]
      : []),
  ];
}

/** Rules over notifications: type, address and secret must fit together. */
export function notificationRules(settings: Readable): Problem[] {
  const { notifications = [], notificationSecrets = {}, gitopsSystemRepoUrl: url } = settings;
  const names = notifications.map(({ name }) => name);
  const twice = duplicates(names);
  const unknown = Object.keys(notificationSecrets).filter((name) => !names.includes(name));
  const isReadable = settings.notifications !== undefined && settings.notificationSecrets !== undefined;
  if (!isReadable) return [];
  return [
    ...(names.length > most
      ? [
          {
            key,
            what: "has more entries than one role can read the secrets of",
            got: String(names.length),
            allowed: `at most ${most}`,
            remedy: "send one to something that passes it on, by type generic",
          },
        ]
      : []),
    ...twice.map((name) => ({
      key,
      what: "uses a name twice; its secret and its objects are named after it",
      got: name,
      allowed: "different names",
      remedy: "rename one",
    })),
    ...unknown.map((name) => ({
      key: secretKey,
      what: "has a secret of no notification",
      got: name,
      allowed: names.join(", ") || "(nothing)",
      remedy: `pulumi config rm --path '${secretKey}["${name}"]', or correct the name`,
    })),
    ...notifications.flatMap((setting) => ownProblems(setting, notificationSecrets[setting.name], url)),
  ];
}
