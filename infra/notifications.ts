import { ManagedSecret, type ManagedSecretArgs } from "../components/managed-secret.ts";
import type { NotificationArgs } from "../components/notification.ts";
import type { SecretStore } from "../components/secret-store.ts";
import { fleetNames, hubName, namespaces } from "../lib/names.ts";
import { type EventSource, eventKinds, isCommitStatus } from "../lib/notifications.ts";
import type { EventGroup, NotificationSecret, NotificationSetting } from "./notification-keys.ts";
import { addressOf } from "./notification-rules.ts";
import type { Settings } from "./settings.ts";

/** Who hears of Flux on the hub. */

/** The secrets of notifications that have one, by their names. */
export function notificationSecrets(
  { fleet, notifications, notificationSecrets: secrets, ...git }: Settings,
  args: Omit<ManagedSecretArgs, "secretName" | "description" | "value">,
): ReadonlyMap<string, ManagedSecret> {
  const made = notifications.flatMap((setting) => {
    const { name } = setting;
    const secret = secrets[name];
    if (secret === undefined) return [];
    const managed = new ManagedSecret(
      `notification-${name}`,
      {
        ...args,
        secretName: fleetNames(fleet).notificationSecret(name),
        description: `What Flux on the hub needs for its notification ${name}`,
        value: { ...secret, ...authority(setting, secret, git) },
      },
      // The stack's configuration has it.
      { protect: false },
    );
    return [[name, managed] as const];
  });
  return new Map(made);
}

/** The authorities of a private Git host, where the commit's is the one that Flux reads gitops-system from. */
function authority(
  setting: NotificationSetting,
  secret: NotificationSecret,
  { gitCaCertificate, gitopsSystemRepoUrl: url }: Pick<Settings, "gitCaCertificate" | "gitopsSystemRepoUrl">,
): { readonly "ca.crt"?: string } {
  if (!isCommitStatus(setting.type) || gitCaCertificate === "") return {};
  const address = addressOf(setting, secret, url);
  const isSameHost = address !== undefined && new URL(address).hostname === new URL(url).hostname;
  return isSameHost ? { "ca.crt": gitCaCertificate } : {};
}

const everythingIn = (namespace: string): EventSource[] => eventKinds.map((kind) => ({ kind, name: "*", namespace }));
/** What Flux on the hub does, by group. */
const sourcesOf: Readonly<Record<EventGroup, readonly EventSource[]>> = {
  platform: everythingIn(namespaces.flux),
  spokes: everythingIn(namespaces.spokes),
};

/** The notifications of the hub's Flux, by logical name. */
export function hubNotifications(
  { fleet, notifications, gitopsSystemRepoUrl: url, notificationSecrets: given }: Settings,
  secrets: ReadonlyMap<string, ManagedSecret>,
  store: SecretStore,
): Readonly<Record<string, NotificationArgs>> {
  const args = (setting: NotificationSetting): NotificationArgs => {
    const { name, type, channel, severity, events } = setting;
    const secret = secrets.get(name);
    const sources = events.flatMap((event) => sourcesOf[event]);
    const isSecretAddress = given[name]?.address !== undefined;
    return {
      notification: name,
      type,
      severity,
      address: isSecretAddress ? undefined : addressOf(setting, undefined, url),
      channel,
      // Commits have the states of Kustomizations only (docs/spec/v1beta3/providers.md, "Git Commit Status Updates").
      sources: isCommitStatus(type) ? sources.filter(({ kind }) => kind === "Kustomization") : sources,
      metadata: { fleet, cluster: hubName },
      ...(secret && { storeName: store.storeName, remoteSecret: secret.secretName }),
    };
  };
  return Object.fromEntries(notifications.map((setting) => [`notification-${setting.name}`, args(setting)]));
}
