import * as pulumi from "@pulumi/pulumi";
import { type FleetSize, spread } from "./fleet-size.ts";
import { HelmAddon, imageValues, type Registries } from "./helm-addon.ts";
import { charts } from "./versions.ts";

export interface ExternalSecretsArgs {
  readonly registries: Registries;
  readonly logLevel: string;
  readonly size: FleetSize;
}

/** The External Secrets operator. It has no AWS identity of its own: each SecretStore brings a service account (see SecretStore). */
export class ExternalSecrets extends pulumi.ComponentResource {
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: ExternalSecretsArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ExternalSecrets", name, {}, opts);
    const { replicas, externalSecrets: resources } = args.size;
    const { image, pullSecrets } = imageValues(args.registries);
    // Each of its Deployments has its own (deploy/charts/external-secrets/values.yaml of external-secrets 2.9).
    const pulled = {
      image: { repository: image("ghcr.io/external-secrets/external-secrets") },
      imagePullSecrets: pullSecrets,
    };
    const pods = (name: string) => ({
      ...pulled,
      replicaCount: replicas,
      resources,
      ...(replicas > 1 && {
        // maxUnavailable wins over the chart's minAvailable.
        podDisruptionBudget: { enabled: true, maxUnavailable: 1 },
        topologySpreadConstraints: spread({
          "app.kubernetes.io/name": name,
          "app.kubernetes.io/instance": "external-secrets",
        }),
      }),
    });
    const addon = new HelmAddon(
      name,
      {
        chart: charts.externalSecrets,
        registries: args.registries,
        releaseName: "external-secrets",
        namespace: "external-secrets",
        podSecurity: "restricted",
        values: {
          installCRDs: true,
          // Kept when the release goes: without them every ExternalSecret would go too, with the Secret that it made.
          crds: { annotations: { "helm.sh/resource-policy": "keep" } },
          log: { level: args.logLevel },
          leaderElect: true,
          ...pods("external-secrets"),
          webhook: pods("external-secrets-webhook"),
          // It renews the webhook's certificate, and nothing waits for it: one pod.
          certController: { ...pulled, resources },
          // Only namespaced stores and secrets: nothing reaches across namespaces.
          processClusterExternalSecret: false,
          processClusterStore: false,
          processClusterPushSecret: false,
          processClusterGenerator: false,
          processPushSecret: false,
        },
      },
      { parent: this },
    );
    this.namespace = addon.namespace;
    this.registerOutputs({ namespace: this.namespace });
  }
}
