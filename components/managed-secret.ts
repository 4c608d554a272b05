import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

export interface ManagedSecretArgs {
  /** Name in Secrets Manager. */
  readonly secretName: string;
  readonly description: string;
  /** Members of the JSON object that is stored. */
  readonly value: Readonly<Record<string, pulumi.Input<string>>>;
  /** ARN of the customer managed key that encrypts it. */
  readonly keyArn: pulumi.Input<string>;
  /** Days for which it can be restored after deletion: 0, or 7 to 30. */
  readonly recoveryWindowInDays: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** A JSON secret in Secrets Manager with its value. */
export class ManagedSecret extends pulumi.ComponentResource {
  /** Name of the secret; known when it has its value. */
  readonly secretName: pulumi.Output<string>;
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: ManagedSecretArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ManagedSecret", name, {}, opts);
    const { secretName, description, keyArn, recoveryWindowInDays, tags } = args;
    const secret = new aws.secretsmanager.Secret(
      `${name}-secret`,
      { name: secretName, description, kmsKeyId: keyArn, recoveryWindowInDays, tags },
      { parent: this },
    );
    const version = new aws.secretsmanager.SecretVersion(
      `${name}-version`,
      { secretId: secret.id, secretString: pulumi.secret(pulumi.jsonStringify(args.value)) },
      // A new value (a rotated token, another host key) replaces the version, which protection would refuse; the secret keeps its own.
      { parent: this, protect: false },
    );
    this.arn = secret.arn;
    this.secretName = pulumi.all([secret.name, version.id]).apply(([stored]) => stored);
    this.registerOutputs({ arn: this.arn });
  }
}
