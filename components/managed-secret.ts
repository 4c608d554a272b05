import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";

export interface ManagedSecretArgs {
  /**
   * Name in Secrets Manager, at most 512 characters.
   * @default the component's name
   */
  readonly secretName?: string;
  /** What the secret gives access to, and who uses it. */
  readonly description: string;
  /** Members of the JSON object that is stored; always secret in Pulumi's state. */
  readonly value: Readonly<Record<string, pulumi.Input<string>>>;
  /** ARN of the customer managed key that encrypts it, such as an `EncryptionKey`'s. */
  readonly keyArn: pulumi.Input<string>;
  /**
   * Days for which the secret can be restored after its deletion: 7 to 30, or 0 to delete it at once.
   * @default 30
   */
  readonly secretRecoveryWindowDays?: number;
  /**
   * Resource policy: what principals of other accounts may do with the secret, if their own policies and the key's allow it too.
   * @default none: only IAM policies of the account count
   */
  readonly policy?: pulumi.Input<PolicyDocument> | undefined;
  /**
   * Tags of the secret.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/** The resource policy of a secret. */
export const secretPolicy = (
  name: string,
  secretArn: pulumi.Input<string>,
  policy: pulumi.Input<PolicyDocument>,
  parent: pulumi.Resource,
): aws.secretsmanager.SecretPolicy =>
  new aws.secretsmanager.SecretPolicy(
    name,
    { secretArn, policy: pulumi.jsonStringify(policy), blockPublicPolicy: true },
    // The secret stays protected.
    { parent, protect: false },
  );

/**
 * A JSON secret in Secrets Manager with its value.
 * @example
 * const login = new ManagedSecret("shop-database", { description: "Login of the shop", value: { password }, keyArn: key.arn });
 */
export class ManagedSecret extends pulumi.ComponentResource {
  /** Name of the secret; known when it has its value. */
  readonly secretName: pulumi.Output<string>;
  /** ARN of the secret, with the six random characters that Secrets Manager puts at its end. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: ManagedSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ManagedSecret", name, {}, opts);
    const { secretName = name, description, keyArn, secretRecoveryWindowDays = 30, policy, tags } = args;
    const secret = new aws.secretsmanager.Secret(
      `${name}-secret`,
      { name: secretName, description, kmsKeyId: keyArn, recoveryWindowInDays: secretRecoveryWindowDays, tags },
      { parent: this },
    );
    const version = new aws.secretsmanager.SecretVersion(
      `${name}-version`,
      { secretId: secret.id, secretString: pulumi.secret(pulumi.jsonStringify(args.value)) },
      // A new value (a rotated token, another host key) replaces the version, which protection would refuse; the secret itself stays
      // protected.
      { parent: this, protect: false },
    );
    if (policy !== undefined) secretPolicy(`${name}-policy`, secret.arn, policy, this);
    this.arn = secret.arn;
    this.secretName = pulumi.all([secret.name, version.id]).apply(([stored]) => stored);
    this.registerOutputs({ arn: this.arn });
  }
}
