import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { inBase64 } from "../lib/base64.ts";
import { watchLabel } from "../lib/labels.ts";
import { namespaces } from "../lib/names.ts";
import { credentialVariables, noCredentials, registrySecrets } from "../lib/registries.ts";

/** Credentials of the mirrors. */
interface RegistryCredentialInputs {
  /**
   * Docker configuration in JSON, for images and Crossplane's packages.
   * @default none
   */
  readonly pullSecret?: pulumi.Input<string>;
  /**
   * User name at the chart mirror.
   * @default none
   */
  readonly chartsUsername?: pulumi.Input<string>;
  /**
   * Its password.
   * @default none
   */
  readonly chartsPassword?: pulumi.Input<string>;
}

export interface RegistryCredentialsSecretArgs {
  /**
   * Namespace of Flux.
   * @default "flux-system"
   */
  readonly namespace?: pulumi.Input<string>;
  /** The credentials of mirrors, always secret in Pulumi's state; empty or missing members for mirrors that need none. */
  readonly credentials: pulumi.Input<RegistryCredentialInputs>;
}

/**
 * The credentials of mirrors as variables for Flux, apart from the bridge, which contains no credentials. Manifests in Git turn them into
 * pull secrets and the credentials of HelmRepositories, on the hub and, through the chain, on every spoke, before the first image is
 * pulled there. Its namespace must exist.
 * @example
 * const credentials = { pullSecret: config.requireSecret("pullSecret") };
 * new RegistryCredentialsSecret("registry-credentials", { credentials }, { provider: cluster.provider, dependsOn: [flux] });
 */
export class RegistryCredentialsSecret extends pulumi.ComponentResource {
  /** Name of the Secret; known when it is there. */
  readonly secretName: pulumi.Output<string>;

  constructor(name: string, args: RegistryCredentialsSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:RegistryCredentialsSecret", name, {}, opts);
    const { namespace = namespaces.flux, credentials } = args;
    const secret = new kubernetes.core.v1.Secret(
      `${name}-secret`,
      {
        // Flux applies a new value at once.
        metadata: { name: registrySecrets.variables, namespace, labels: { ...watchLabel } },
        data: pulumi
          .secret(credentials)
          .apply((known) => inBase64(credentialVariables({ ...noCredentials, ...known }))),
      },
      { parent: this },
    );
    this.secretName = secret.metadata.name;
    this.registerOutputs({ secretName: this.secretName });
  }
}
