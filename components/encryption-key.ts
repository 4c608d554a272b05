import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

export interface EncryptionKeyArgs {
  /** What the key encrypts. */
  readonly description: string;
  /** Alias with the prefix `alias/`. */
  readonly alias: string;
  /** Days between deletion and the end of the key, 7 to 30. */
  readonly deletionWindowInDays: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Refuse to delete the key. */
  readonly protect: boolean;
}

/** A customer managed KMS key with yearly rotation and an alias. Its key policy is the default one: IAM policies of the account decide. */
export class EncryptionKey extends pulumi.ComponentResource {
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: EncryptionKeyArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:EncryptionKey", name, {}, opts);
    const { description, alias, deletionWindowInDays, tags, protect } = args;
    const key = new aws.kms.Key(
      `${name}-key`,
      {
        description,
        deletionWindowInDays,
        enableKeyRotation: true,
        tags: { ...tags, Name: alias.replace(/^alias\//, "") },
      },
      { parent: this, protect },
    );
    new aws.kms.Alias(`${name}-alias`, { name: alias, targetKeyId: key.keyId }, { parent: this });
    this.arn = key.arn;
    this.registerOutputs({ arn: this.arn });
  }
}
