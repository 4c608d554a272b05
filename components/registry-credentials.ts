import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { inBase64 } from "../lib/bridge.ts";
import { watchLabel } from "../lib/labels.ts";
import { namespaces } from "../lib/names.ts";
import { credentialVariables, type RegistryCredentials, registrySecrets } from "../lib/registries.ts";

export interface RegistryCredentialsSecretArgs {
  /**
   * Namespace of Flux.
   * @default "flux-system"
   */
  readonly namespace?: pulumi.Input<string>;
  /** The credentials of mirrors; empty members for mirrors that need none. */
  readonly credentials: pulumi.Output<RegistryCredentials>;
}

/**
 * The credentials of mirrors as variables for Flux, apart from the bridge, which contains no credentials. Manifests in Git turn them into
 * pull secrets and the credentials of HelmRepositories, on the hub and, through the chain, on every spoke, before the first image is
 * pulled there.
 */
export class RegistryCredentialsSecret extends pulumi.ComponentResource {
  constructor(name: string, args: RegistryCredentialsSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:RegistryCredentialsSecret", name, {}, opts);
    const { namespace = namespaces.flux, credentials } = args;
    new kubernetes.core.v1.Secret(
      `${name}-secret`,
      {
        // Flux applies a new value at once.
        metadata: { name: registrySecrets.variables, namespace, labels: { ...watchLabel } },
        data: pulumi.secret(credentials).apply((known) => inBase64(credentialVariables(known))),
      },
      { parent: this },
    );
    this.registerOutputs({});
  }
}
