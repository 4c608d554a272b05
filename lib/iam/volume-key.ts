import { arns, inAnyPartition, type Scope, type Statement } from "./policy.ts";

/** A key of AWS's own, and the service through which it is used. */
interface DefaultKey {
  readonly alias: string;
  readonly service: string;
}

const volumeKey: DefaultKey = { alias: "alias/aws/ebs", service: "ec2" };

/**
 * The key by which EBS encrypts volumes, through EC2 only.
 * @param also further keys, each through its service; default: none
 */
export function volumeKeyStatement(scope: Scope, ...also: readonly DefaultKey[]): Statement {
  const keys = [volumeKey, ...also];
  return {
    Sid: "VolumeKey",
    Effect: "Allow",
    Action: ["kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"],
    Resource: [arns(inAnyPartition(scope)).kmsKey("*")],
    Condition: {
      // AWS writes the value: a service, and the region of the key.
      StringLike: { "kms:ViaService": keys.map(({ service }) => `${service}.*`) },
      "ForAnyValue:StringEquals": { "kms:ResourceAliases": keys.map(({ alias }) => alias) },
    },
  };
}

/** Keys of a company that volumes of a fleet may use (`volumeKeys` of the stack). */
export interface VolumeKeys {
  /** By ARN, of any account. Default: none. */
  readonly volumeKeys?: readonly string[];
}

/** An ARN of a KMS key, of a multi-Region key too: EBS also accepts an alias, but IAM policies name keys. */
export const keyArnPattern =
  "^arn:aws(-[a-z]+)*:kms:[a-z]{2}(-[a-z]+)+-[0-9]:[0-9]{12}:key/(mrk-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$";

/** Region of a key: EBS accepts only keys of a volume's own (EC2 API Reference, CreateVolume, `KmsKeyId`). */
export const keyRegion = (keyArn: string): string => keyArn.split(":")[3] ?? "";

/** What EC2 does with keys in the name of its caller. */
const ownKeysStatement = (keys: readonly string[], Action: readonly string[]): Statement => ({
  Effect: "Allow",
  Action,
  Resource: keys,
  Condition: {
    StringLike: { "kms:ViaService": "ec2.*" },
    // Of these calls only kms:CreateGrant has it.
    BoolIfExists: { "kms:GrantIsForAWSResource": "true" },
  },
});

/**
 * A company's keys in a boundary; without keys nothing, because a boundary has little room.
 * @param also further actions; default: none
 */
export const ownKeysInBoundary = ({ volumeKeys = [] }: VolumeKeys, also: readonly string[] = []): Statement[] =>
  volumeKeys.length === 0
    ? []
    : [ownKeysStatement(volumeKeys, ["kms:*crypt*", "kms:CreateGrant", ...also, "kms:GenerateDataKey*"])];

/**
 * A company's keys in a role that creates, attaches or restores volumes, or starts instances itself (Karpenter, "Troubleshooting", on encrypted
 * EBS volumes; EKS User Guide, "Enable EBS Volume Encryption with Customer Managed KMS Keys for EKS Auto Mode").
 */
export const ownKeysOfRole = (keys: readonly string[]): Statement[] =>
  keys.length === 0
    ? []
    : [
        ownKeysStatement(keys, [
          "kms:CreateGrant",
          "kms:Decrypt",
          "kms:DescribeKey",
          "kms:Encrypt",
          "kms:GenerateDataKey*",
          "kms:ReEncrypt*",
        ]),
      ];
