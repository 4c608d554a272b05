import * as aws from "@pulumi/aws";
import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { ServiceAccountRef } from "../lib/iam/trust.ts";

export interface SecretStoreArgs {
  /** Service account that the store uses, in the store's namespace. No pod runs under it. */
  readonly subject: ServiceAccountRef;
  /** IAM role that the service account may assume. */
  readonly roleArn: pulumi.Input<string>;
  /**
   * AWS region whose secrets it reads.
   * @default the region of the AWS provider
   */
  readonly region?: pulumi.Input<string>;
  /**
   * Whether secrets that a PushSecret made go at once with it, and don't keep their names for Secrets Manager's recovery window.
   * @default false
   */
  readonly deletesAtOnce?: boolean;
}

/**
 * A SecretStore for AWS Secrets Manager with an identity of its own: External Secrets asks Kubernetes for a token of this
 * service account, so a SecretStore in another namespace can't use the role.
 * @example
 * const subject = { namespace: "shop", serviceAccount: "aws-secrets-manager" };
 * new SecretStore("shop-secrets", { subject, roleArn: role.arn }, { provider: cluster.provider, dependsOn: [operator] });
 */
export class SecretStore extends pulumi.ComponentResource {
  /** Name of the SecretStore; known when it is ready. */
  readonly storeName: pulumi.Output<string>;

  constructor(name: string, args: SecretStoreArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:SecretStore", name, {}, opts);
    const { namespace, serviceAccount } = args.subject;
    const { region = aws.getRegionOutput({}, { parent: this }).region, deletesAtOnce = false } = args;
    const account = new kubernetes.core.v1.ServiceAccount(
      `${name}-service-account`,
      {
        metadata: { name: serviceAccount, namespace, annotations: { "eks.amazonaws.com/role-arn": args.roleArn } },
        automountServiceAccountToken: false,
      },
      { parent: this },
    );
    const store = new kubernetes.apiextensions.CustomResource(
      `${name}-store`,
      {
        apiVersion: "external-secrets.io/v1",
        kind: "SecretStore",
        metadata: {
          name: serviceAccount,
          namespace,
          annotations: { "pulumi.com/waitFor": "condition=Ready" },
        },
        spec: {
          provider: {
            aws: {
              service: "SecretsManager",
              region,
              ...(deletesAtOnce && { secretsManager: { forceDeleteWithoutRecovery: true } }),
              auth: { jwt: { serviceAccountRef: { name: account.metadata.name } } },
            },
          },
        },
      },
      { parent: this },
    );
    this.storeName = store.metadata.name;
    this.registerOutputs({ storeName: this.storeName });
  }
}
