import {
  isCommitStatus,
  type NotificationType,
  notificationTypes,
  type Severity,
  severities,
} from "../lib/notifications.ts";
import { fromJson, isRecord, type Key, listOf } from "./forms.ts";

/** What the hub's Flux has to say something about: the platform's own steps, and those that put spokes up. */
const eventGroups = ["platform", "spokes"] as const;
export type EventGroup = (typeof eventGroups)[number];

/** Who hears of the hub's Flux. */
export interface NotificationSetting {
  readonly name: string;
  readonly type: NotificationType;
  /** Where it is sent, if that is no secret; a commit's Git host. */
  readonly address?: string | undefined;
  readonly channel?: string | undefined;
  readonly severity: Severity;
  readonly events: readonly EventGroup[];
}

/** Its secret. */
export interface NotificationSecret {
  readonly token?: string;
  readonly address?: string;
}

const name = /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/;

const isOneOf = <T extends string>(values: readonly T[], value: unknown): value is T =>
  values.some((known) => known === value);
const isText = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === "string" && /^\S+$/.test(value));

function notification(value: unknown): NotificationSetting | undefined {
  if (!isRecord(value)) return undefined;
  const { name: called, type, address, channel, severity, events = eventGroups, ...unknown } = value;
  if (typeof called !== "string" || !name.test(called) || !isOneOf(notificationTypes, type)) return undefined;
  if (!isText(address) || !isText(channel) || Object.keys(unknown).length > 0) return undefined;
  // A commit that failed and one that mends it are of different severity.
  const least = severity ?? (isCommitStatus(type) ? "info" : "error");
  if (!isOneOf(severities, least) || !Array.isArray(events) || events.length === 0) return undefined;
  if (!events.every((event): event is EventGroup => isOneOf(eventGroups, event))) return undefined;
  return { name: called, type, address, channel, severity: least, events };
}

function notificationSecret(value: unknown): NotificationSecret | undefined {
  if (!isRecord(value)) return undefined;
  const { token, address, ...unknown } = value;
  const isWhole = isText(token) && isText(address) && Object.keys(unknown).length === 0;
  return isWhole && (token ?? address) !== undefined
    ? { ...(token !== undefined && { token }), ...(address !== undefined && { address }) }
    : undefined;
}

const secrets: Key<Readonly<Record<string, NotificationSecret>>> = {
  parse: (value) => {
    const entries = fromJson(value);
    if (!isRecord(entries)) return undefined;
    const read = Object.entries(entries).map(([key, entry]) => [key, notificationSecret(entry)] as const);
    const whole = read.filter((entry): entry is [string, NotificationSecret] => entry[1] !== undefined);
    return whole.length === read.length ? Object.fromEntries(whole) : undefined;
  },
  allowed: "{<name of a notification>: {token: <token>, address: <https://…>}}, either or both of the two",
  path: ".<name>.address",
  example: "",
  secret: true,
};

/** The keys about who hears of the hub's Flux. */
export const notificationKeys = {
  notifications: listOf(notification, {
    allowed:
      `a list of {name: <at most 40 lower-case letters, digits and hyphens>, type: ${notificationTypes.join(", ")}, ` +
      `address: <URL>, channel: <name>, severity: ${severities.join(" or ")}, events: [${eventGroups.join(", ")}]}; all but name and type may be left out`,
    path: "[0].type",
    example: "slack (likewise name)",
  }),
  notificationSecrets: secrets,
} as const;
