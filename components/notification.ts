import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { namespaces } from "../lib/names.ts";
import { type EventSource, isCommitStatus, type NotificationType, type Severity } from "../lib/notifications.ts";
import { externalSecret, remoteRef } from "./external-secret.ts";

export interface NotificationArgs {
  /**
   * Namespace of Flux.
   * @default "flux-system"
   */
  readonly namespace?: string;
  /**
   * Name of the Provider, the Alert and the Secret.
   * @default the component's name
   */
  readonly notification?: string;
  /** Who is told: a channel, a server of yours, or the Git host of the commits. */
  readonly type: NotificationType;
  /**
   * URL of the channel or server, or of the repository at its Git host.
   * @default the secret's `address`
   */
  readonly address?: string | undefined;
  /**
   * Channel of a Slack bot.
   * @default none
   */
  readonly channel?: string | undefined;
  /**
   * The least severe events that are told. A commit's state needs `info`.
   * @default "error", and "info" for the state of commits
   */
  readonly severity?: Severity;
  /** Objects of Flux whose events are told; for the state of commits Kustomizations. */
  readonly sources: readonly EventSource[];
  /**
   * What every message says besides the event, such as the cluster.
   * @default nothing
   */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Name of the SecretStore that reads the secret: a `SecretStore`'s, in the same namespace.
   * @default none, without a remoteSecret
   */
  readonly storeName?: pulumi.Input<string>;
  /**
   * Name in Secrets Manager of a JSON object with `token` or `address`: a `ManagedSecret`'s.
   * @default none
   */
  readonly remoteSecret?: pulumi.Input<string>;
}

/**
 * Has Flux tell somebody what it does: a Provider and an Alert. The cluster needs Flux first, and for a secret External Secrets.
 * @example
 * const [storeName, remoteSecret] = [store.storeName, webhook.secretName];
 * const sources = [{ kind: "Kustomization", name: "*" }] as const;
 * const opts = { provider: cluster.provider, dependsOn: [flux, externalSecrets] };
 * new Notification("platform-team", { type: "slack", sources, storeName, remoteSecret }, opts);
 */
export class Notification extends pulumi.ComponentResource {
  /** Name of the Alert; known when it is there. */
  readonly alert: pulumi.Output<string>;

  constructor(name: string, args: NotificationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:Notification", name, {}, opts);
    const { namespace = namespaces.flux, notification = name, type, address, channel, storeName, remoteSecret } = args;
    const { severity = isCommitStatus(type) ? "info" : "error", sources, metadata: said } = args;
    const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
    const metadata = { name: notification, namespace };
    const secretName = `notification-${notification}`;
    const secret =
      storeName !== undefined &&
      remoteSecret !== undefined &&
      externalSecret(
        `${name}-secret`,
        { metadata: { name: secretName, namespace }, storeName, dataFrom: [{ extract: remoteRef(remoteSecret) }] },
        { parent: this },
      );
    const provider = new kubernetes.apiextensions.CustomResource(
      `${name}-provider`,
      {
        ...{ apiVersion, kind: "Provider", metadata },
        spec: {
          type,
          ...(address !== undefined && { address }),
          ...(channel !== undefined && { channel }),
          ...(secret && { secretRef: { name: secretName } }),
        },
      },
      { parent: this, dependsOn: secret ? [secret] : [] },
    );
    const alert = new kubernetes.apiextensions.CustomResource(
      `${name}-alert`,
      {
        ...{ apiVersion, kind: "Alert", metadata },
        spec: {
          providerRef: { name: notification },
          eventSeverity: severity,
          eventSources: sources.map((source) => ({ ...source })),
          ...(said && { eventMetadata: { ...said } }),
        },
      },
      { parent: this, dependsOn: [provider] },
    );
    this.alert = alert.metadata.name;
    this.registerOutputs({ alert: this.alert });
  }
}
