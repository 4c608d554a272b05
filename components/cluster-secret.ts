import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type ArgocdAccess, argocdClusterSecret } from "../lib/argocd.ts";
import { inBase64 } from "../lib/base64.ts";
import { bridgeData, bridgeLabels, type ClusterMetadata, clusterSecretName } from "../lib/bridge.ts";
import { podSecurityLabels } from "../lib/labels.ts";
import { namespaces } from "../lib/names.ts";

export interface ClusterSecretArgs {
  /** The facts of the hub that Git may use: docs/reference/contract.md lists them. */
  readonly metadata: pulumi.Input<ClusterMetadata>;
  /**
   * Namespace of the cluster secret: Flux reads variables from its own namespace only.
   * @default "flux-system"
   */
  readonly namespace?: pulumi.Input<string>;
  /**
   * Namespace of an Argo CD cluster secret with the same values, and how Argo CD reaches the hub. The component makes the namespace: where it
   * exists already the Kubernetes provider fails (pulumi-kubernetes 4.29.0, "Use client-side create for new resources"), because what it
   * took over it would delete in the end.
   * @default no such secret
   */
  readonly argocd?: { readonly namespace: string; readonly access: pulumi.Input<ArgocdAccess> } | undefined;
}

/**
 * The GitOps bridge: the facts of the hub that Git may use, as a Secret from which Flux substitutes variables. It contains no credential.
 * @example
 * const bridge = new ClusterSecret("cluster-secret", { metadata }, { provider: cluster.provider, dependsOn: [flux] });
 */
export class ClusterSecret extends pulumi.ComponentResource {
  /** Name of the cluster secret; known once it exists. */
  readonly secretName: pulumi.Output<string>;
  /** The bridge's keys and values. */
  readonly data: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: ClusterSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ClusterSecret", name, {}, opts);
    const metadata = pulumi.output(args.metadata) as pulumi.Output<ClusterMetadata>;
    this.data = metadata.apply(bridgeData);
    const secret = new kubernetes.core.v1.Secret(
      `${name}-bridge`,
      {
        metadata: {
          name: metadata.apply((cluster) => clusterSecretName(cluster.name)),
          namespace: args.namespace ?? namespaces.flux,
          labels: metadata.apply(bridgeLabels),
        },
        data: this.data.apply(inBase64),
      },
      { parent: this },
    );
    this.secretName = secret.metadata.name;
    if (args.argocd) this.argocdSecret(name, metadata, args.argocd);
    this.registerOutputs({ secretName: this.secretName });
  }

  private argocdSecret(
    name: string,
    metadata: pulumi.Output<ClusterMetadata>,
    argocd: NonNullable<ClusterSecretArgs["argocd"]>,
  ): void {
    const namespace = new kubernetes.core.v1.Namespace(
      `${name}-argocd-namespace`,
      { metadata: { name: argocd.namespace, labels: podSecurityLabels("baseline") } },
      { parent: this },
    );
    const content = pulumi
      .all([metadata, argocd.access])
      .apply(([cluster, access]) => argocdClusterSecret(cluster as ClusterMetadata, access as ArgocdAccess));
    new kubernetes.core.v1.Secret(
      `${name}-argocd`,
      {
        metadata: {
          name: metadata.apply((cluster) => clusterSecretName(cluster.name)),
          namespace: namespace.metadata.name,
          labels: content.labels,
          annotations: content.annotations,
        },
        data: content.data.apply(inBase64),
      },
      { parent: this },
    );
  }
}
