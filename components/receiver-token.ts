import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import type { Tags } from "../lib/labels.ts";
import { ManagedSecret } from "./managed-secret.ts";

export interface ReceiverTokenArgs {
  /**
   * Name in Secrets Manager, at most 512 characters.
   * @default the component's name
   */
  readonly secretName?: string;
  /**
   * Any name; another one makes a new token.
   * @default "1"
   */
  readonly generation?: string;
  /** ARN of the customer managed key that encrypts it, such as an `EncryptionKey`'s. */
  readonly keyArn: pulumi.Input<string>;
  /**
   * Days for which a deleted token can be restored: 7 to 30, or 0 to delete it at once.
   * @default 30
   */
  readonly secretRecoveryWindowDays?: number;
  /**
   * Tags of the secret.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
}

/** Characters of a token: with letters and digits some 285 bits, more than SHA-256 takes of a key. */
const length = 48;

/**
 * The token that a Git host and a Receiver of Flux share, in Secrets Manager as `{"token": …}`.
 * @example
 * const token = new ReceiverToken("shop-receiver", { keyArn: key.arn });
 */
export class ReceiverToken extends pulumi.ComponentResource {
  /** The token, a secret. */
  readonly token: pulumi.Output<string>;
  /** Name of the secret; known when it has its value. */
  readonly secretName: pulumi.Output<string>;
  /** ARN of the secret. */
  readonly arn: pulumi.Output<string>;

  constructor(name: string, args: ReceiverTokenArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:ReceiverToken", name, {}, opts);
    const { generation = "1", secretName = name, ...common } = args;
    // Letters and digits: it stands in headers and in forms of Git hosts.
    const password = new random.RandomPassword(
      `${name}-password`,
      { length, special: false, keepers: { generation } },
      { parent: this },
    );
    this.token = pulumi.secret(password.result);
    const secret = new ManagedSecret(
      name,
      {
        ...common,
        secretName,
        description: "Token with which the Git host signs its calls of Flux's Receiver",
        value: { token: this.token },
      },
      { parent: this },
    );
    this.secretName = secret.secretName;
    this.arn = secret.arn;
    this.registerOutputs({ arn: this.arn });
  }
}
