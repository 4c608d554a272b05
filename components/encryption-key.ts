import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { PolicyDocument } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";

export interface EncryptionKeyArgs {
  /** What the key encrypts. */
  readonly description: string;
  /**
   * Alias, which begins with `alias/`.
   * @default `alias/` and the component's name
   */
  readonly alias?: string;
  /**
   * Days between the key's deletion and its end, 7 to 30; until then the deletion can be cancelled.
   * @default 30
   */
  readonly kmsDeletionWindowDays?: number | undefined;
  /**
   * Key policy: who of which accounts may do what. KMS refuses one under which the caller could not change it again (AWS KMS API Reference,
   * "PutKeyPolicy").
   * @default KMS's own: IAM policies of the account decide
   */
  readonly policy?: pulumi.Input<PolicyDocument> | undefined;
  /**
   * Tags of the key, besides `Name`.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
  /**
   * Pulumi refuses to delete the key while this is true. The component's own option `protect` also protects the alias.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
}

/**
 * A customer managed KMS key with yearly rotation and an alias.
 * @example
 * const key = new EncryptionKey("secrets", { description: "Secrets of the shop" });
 */
export class EncryptionKey extends pulumi.ComponentResource {
  /** ARN of the key. */
  readonly arn: pulumi.Output<string>;
  /** ID of the key. */
  readonly keyId: pulumi.Output<string>;
  /** Name of the alias, including `alias/`; known once it refers to the key. */
  readonly alias: pulumi.Output<string>;

  constructor(name: string, args: EncryptionKeyArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:EncryptionKey", name, {}, opts);
    const { description, alias: aliasName = `alias/${name}`, kmsDeletionWindowDays = 30, policy, tags, protect } = args;
    const key = new aws.kms.Key(
      `${name}-key`,
      {
        description,
        deletionWindowInDays: kmsDeletionWindowDays,
        enableKeyRotation: true,
        tags: { ...tags, Name: aliasName.replace(/^alias\//, "") },
      },
      { parent: this, ...(protect !== undefined && { protect }) },
    );
    // A resource of its own: KMS keeps a key's policy that is no longer mentioned, and this one is reset to the default when it is removed.
    if (policy !== undefined)
      new aws.kms.KeyPolicy(
        `${name}-policy`,
        { keyId: key.keyId, policy: pulumi.jsonStringify(policy) },
        { parent: this, protect: false },
      );
    const alias = new aws.kms.Alias(`${name}-alias`, { name: aliasName, targetKeyId: key.keyId }, { parent: this });
    this.arn = key.arn;
    this.keyId = key.keyId;
    this.alias = alias.name;
    this.registerOutputs({ arn: this.arn, keyId: this.keyId, alias: this.alias });
  }
}
