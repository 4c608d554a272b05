import * as pulumi from "@pulumi/pulumi";
import { namespaces } from "../lib/names.ts";
import { externalSecret, remoteRef } from "./external-secret.ts";

export interface SealingKeySecretsArgs {
  /**
   * Namespace of the Sealed Secrets controller, which takes keys from its own namespace only.
   * @default "flux-system"
   */
  readonly namespace?: string;
  /** Name of the SecretStore that reads the keys: a `SecretStore`'s, in the same namespace. */
  readonly storeName: pulumi.Input<string>;
  /**
   * Names of the keys in Secrets Manager, by generation: of `ManagedSecret`s, such as `secrets()` of `SealingKeys` gives.
   * @example { "1": keys.secrets("cluster-hub")["1"].secretName }
   */
  readonly remoteSecrets: Readonly<Record<string, pulumi.Input<string>>>;
}

/**
 * Brings sealing keys from Secrets Manager to a cluster, as Secrets that the Sealed Secrets controller opens with. The controller seals with
 * the youngest certificate. The cluster needs External Secrets first; with `watchForSecrets` the controller takes a new generation without a restart.
 * @example
 * const remoteSecrets = { "1": login.secretName };
 * const opts = { provider: cluster.provider, dependsOn: [externalSecrets] };
 * new SealingKeySecrets("hub-sealing-keys", { storeName: store.storeName, remoteSecrets }, opts);
 */
export class SealingKeySecrets extends pulumi.ComponentResource {
  /** Names of the Secrets, by generation; known when they have their keys. */
  readonly secretNames: Readonly<Record<string, pulumi.Output<string>>>;

  constructor(name: string, args: SealingKeySecretsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:SealingKeySecrets", name, {}, opts);
    const { namespace = namespaces.flux, storeName, remoteSecrets } = args;
    const key = (generation: string, remoteSecret: pulumi.Input<string>) =>
      externalSecret(
        `${name}-${generation}`,
        {
          metadata: { name: `sealing-key-${generation}`, namespace },
          storeName,
          template: {
            engineVersion: "v2",
            mergePolicy: "Replace",
            type: "kubernetes.io/tls",
            metadata: { labels: { "sealedsecrets.bitnami.com/sealed-secrets-key": "active" } },
          },
          dataFrom: [{ extract: remoteRef(remoteSecret) }],
        },
        { parent: this },
      );
    this.secretNames = Object.fromEntries(
      Object.entries(remoteSecrets).map(([generation, remote]) => [generation, key(generation, remote).metadata.name]),
    );
    this.registerOutputs({ secretNames: this.secretNames });
  }
}
