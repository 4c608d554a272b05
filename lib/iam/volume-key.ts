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
