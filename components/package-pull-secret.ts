import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { secretReaderPolicy } from "../lib/iam/workloads.ts";
import { crossplaneNamespace } from "./crossplane.ts";
import { IrsaRole, type OidcIssuerArgs } from "./irsa-role.ts";
import { ManagedSecret } from "./managed-secret.ts";
import { SecretStore } from "./secret-store.ts";

export interface PackagePullSecretArgs {
  /** Docker configuration with the credentials, in JSON. */
  readonly dockerConfig: pulumi.Output<string>;
  /** Name of the Secret that packages are pulled with. */
  readonly name: string;
  /** Name in Secrets Manager. */
  readonly secretName: string;
  readonly keyArn: pulumi.Input<string>;
  readonly recoveryWindowInDays: number;
  /** Refuse to delete the credential. */
  readonly protect: boolean;
  /** Role that reads this secret and no other. */
  readonly roleName: string;
  readonly permissionsBoundary: string | undefined;
  readonly oidc: OidcIssuerArgs;
  readonly region: pulumi.Output<string>;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: pulumi.Output<string>;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The credential for private package registries: in Secrets Manager, and from there by External Secrets where Crossplane looks
 * for the `packagePullSecrets` of a package: in its own namespace. It gives them to the package's pods too.
 */
export class PackagePullSecret extends pulumi.ComponentResource {
  constructor(name: string, args: PackagePullSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:PackagePullSecret", name, {}, opts);
    const { tags, region, keyArn, protect } = args;
    const stored = new ManagedSecret(
      name,
      {
        secretName: args.secretName,
        description: "Credential for the registries of the hub's Crossplane packages",
        value: { ".dockerconfigjson": args.dockerConfig },
        keyArn,
        recoveryWindowInDays: args.recoveryWindowInDays,
        tags,
      },
      { parent: this, protect },
    );
    const subject = { namespace: crossplaneNamespace, serviceAccount: name };
    const role = new IrsaRole(
      name,
      {
        roleName: args.roleName,
        description: "External Secrets reads the pull secret of Crossplane's packages",
        oidc: args.oidc,
        subject,
        policy: pulumi
          .all([stored.arn, keyArn, region, args.dnsSuffix])
          .apply(([secretArn, key, where, dnsSuffix]) =>
            secretReaderPolicy({ secretArns: [secretArn], keyArn: key, region: where, dnsSuffix }),
          ),
        permissionsBoundary: args.permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    const store = new SecretStore(name, { subject, roleArn: role.arn, region }, { parent: this });
    new kubernetes.apiextensions.CustomResource(
      `${name}-external-secret`,
      {
        apiVersion: "external-secrets.io/v1",
        kind: "ExternalSecret",
        metadata: {
          name: args.name,
          namespace: crossplaneNamespace,
          annotations: { "pulumi.com/waitFor": "condition=Ready" },
        },
        spec: {
          // Duration and defaults in the form in which the operator writes them back, so that a refresh finds no difference.
          refreshInterval: "1h0m0s",
          secretStoreRef: { kind: "SecretStore", name: store.storeName },
          target: {
            name: args.name,
            creationPolicy: "Owner",
            deletionPolicy: "Retain",
            template: { type: "kubernetes.io/dockerconfigjson", engineVersion: "v2", mergePolicy: "Replace" },
          },
          dataFrom: [
            {
              extract: {
                key: stored.secretName,
                conversionStrategy: "Default",
                decodingStrategy: "None",
                metadataPolicy: "None",
              },
            },
          ],
        },
      },
      { parent: this },
    );
    this.registerOutputs({});
  }
}
