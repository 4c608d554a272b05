import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { receiverLabel, watchLabel } from "../lib/labels.ts";
import { namespaces } from "../lib/names.ts";
import { type ReceiverType, receiverEvents, receiverName, receiverPort } from "../lib/receivers.ts";
import { externalSecret, remoteRef } from "./external-secret.ts";

export interface GitReceiverArgs {
  /**
   * Namespace of Flux.
   * @default "flux-system"
   */
  readonly namespace?: string;
  /**
   * Name of the Receiver and of the Secret with its token.
   * @default "git-receiver"
   */
  readonly receiver?: string;
  /** How the Git host signs. `generic` does not: whoever knows the path may call it. */
  readonly type: ReceiverType;
  /**
   * Any name; another one has the token read again at once, as after a rotation.
   * @default "1"
   */
  readonly generation?: string;
  /**
   * Networks whose calls reach notification-controller, besides the cluster's own pods.
   * @default none
   */
  readonly cidrs?: readonly string[];
  /** Name of the SecretStore that reads the token: a `SecretStore`'s, in the same namespace. */
  readonly storeName: pulumi.Input<string>;
  /** Name of the token in Secrets Manager: a `ReceiverToken`'s. */
  readonly remoteSecret: pulumi.Input<string>;
}

/**
 * Has Flux read every GitRepository of its namespace that is labelled `fleet.internal/receiver: git` as soon as the Git host calls. The
 * cluster needs Flux and External Secrets first, and a way for the calls to Service `webhook-receiver`.
 * @example
 * const [storeName, remoteSecret] = [store.storeName, token.secretName];
 * const opts = { provider: cluster.provider, dependsOn: [flux, externalSecrets] };
 * new GitReceiver("git-receiver", { type: "github", storeName, remoteSecret }, opts);
 */
export class GitReceiver extends pulumi.ComponentResource {
  /** Name of the Receiver; known when it takes calls. */
  readonly receiver: pulumi.Output<string>;

  constructor(name: string, args: GitReceiverArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:GitReceiver", name, {}, opts);
    const { namespace = namespaces.flux, receiver = receiverName, type, generation = "1", cidrs = [] } = args;
    const metadata = { name: receiver, namespace };
    const token = externalSecret(
      `${name}-token`,
      {
        metadata,
        // A changed annotation has the operator read at once (External Secrets, "FAQ").
        annotations: { "fleet.internal/generation": generation },
        storeName: args.storeName,
        // notification-controller takes a new token at once.
        template: { engineVersion: "v2", mergePolicy: "Replace", metadata: { labels: { ...watchLabel } } },
        data: [{ secretKey: "token", remoteRef: remoteRef(args.remoteSecret, "token") }],
      },
      { parent: this },
    );
    const object = new kubernetes.apiextensions.CustomResource(
      `${name}-receiver`,
      {
        apiVersion: "notification.toolkit.fluxcd.io/v1",
        kind: "Receiver",
        metadata: { ...metadata, annotations: { "pulumi.com/waitFor": "condition=Ready" } },
        spec: {
          type,
          interval: "10m",
          ...(receiverEvents[type].length > 0 && { events: receiverEvents[type] }),
          secretRef: { name: receiver },
          resources: [
            {
              apiVersion: "source.toolkit.fluxcd.io/v1",
              kind: "GitRepository",
              name: "*",
              matchLabels: { ...receiverLabel },
            },
          ],
        },
      },
      // Flux tells the path there, which stands for the token where calls are not signed.
      { parent: this, dependsOn: [token], additionalSecretOutputs: ["status"] },
    );
    if (cidrs.length > 0)
      new kubernetes.networking.v1.NetworkPolicy(
        `${name}-network`,
        {
          metadata,
          spec: {
            // The chart's label (flux2 2.19.0). Git admits pods of all namespaces (platform/policies/namespaces).
            podSelector: { matchLabels: { app: "notification-controller" } },
            policyTypes: ["Ingress"],
            ingress: [
              {
                from: cidrs.map((cidr) => ({ ipBlock: { cidr } })),
                ports: [{ port: receiverPort, protocol: "TCP" }],
              },
            ],
          },
        },
        { parent: this },
      );
    this.receiver = object.metadata.name;
    this.registerOutputs({ receiver: this.receiver });
  }
}
