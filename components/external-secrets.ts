import * as pulumi from "@pulumi/pulumi";
import { type FleetSize, fleetSizes, spread } from "./fleet-size.ts";
import { HelmAddon, imageValues, type Registries } from "./helm-addon.ts";
import { charts } from "./versions.ts";

export interface ExternalSecretsArgs {
  /**
   * Mirrors of charts and images.
   * @default where upstream publishes them
   */
  readonly registries?: Registries;
  /**
   * Log level of the controllers: debug, info or error.
   * @default "info"
   */
  readonly logLevel?: string;
  /**
   * Pods of the operator and what they get, by the number of spokes: one of `fleetSizes`.
   * @default fleetSizes.small
   */
  readonly size?: FleetSize;
  /**
   * Whether it also writes Secrets to stores (PushSecrets), which takes a role that may.
   * @default false
   */
  readonly pushSecrets?: boolean;
}

/**
 * The External Secrets operator. It has no AWS identity of its own: each SecretStore brings a service account (see SecretStore).
 * @example
 * new ExternalSecrets("external-secrets", {}, { provider: cluster.provider });
 */
export class ExternalSecrets extends pulumi.ComponentResource {
  /** Its namespace; known when its pods are ready. */
  readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: ExternalSecretsArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ExternalSecrets", name, {}, opts);
    const { registries = {}, logLevel = "info", size = fleetSizes.small, pushSecrets = false } = args;
    const { replicas, externalSecrets: resources } = size;
    const { image, pullSecrets } = imageValues(registries);
    const addon = new HelmAddon(
      name,
      {
        chart: charts.externalSecrets,
        registries,
        releaseName: "external-secrets",
        namespace: "external-secrets",
        podSecurity: "restricted",
        values: {
          installCRDs: true,
          // The CRDs stay when the release is removed: without them every ExternalSecret would go, with the Secret that it made.
          crds: { annotations: { "helm.sh/resource-policy": "keep" } },
          log: { level: logLevel },
          leaderElect: true,
          image: { repository: image("ghcr.io/external-secrets/external-secrets") },
          imagePullSecrets: pullSecrets,
          replicaCount: replicas,
          resources,
          // Off by default in the chart, which has no value for a readiness probe of the operator (2.12.0).
          livenessProbe: { enabled: true },
          ...(replicas > 1 && {
            // maxUnavailable takes precedence over the chart's minAvailable.
            podDisruptionBudget: { enabled: true, maxUnavailable: 1 },
            topologySpreadConstraints: spread({
              "app.kubernetes.io/name": "external-secrets",
              "app.kubernetes.io/instance": "external-secrets",
            }),
          }),
          // The program and Git alone write its objects: the pods that judge them first are left out.
          webhook: { create: false },
          certController: { create: false },
          // Only namespaced stores and secrets: nothing reaches across namespaces.
          processClusterExternalSecret: false,
          processClusterStore: false,
          processClusterPushSecret: false,
          processClusterGenerator: false,
          processPushSecret: pushSecrets,
        },
      },
      { parent: this },
    );
    this.namespace = addon.namespace;
    this.registerOutputs({ namespace: this.namespace });
  }
}
