import * as aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";

/** The account, region and partition that the stack is deployed to. */
export interface AwsAccount {
  readonly accountId: pulumi.Output<string>;
  readonly region: pulumi.Output<string>;
  readonly partition: pulumi.Output<string>;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: pulumi.Output<string>;
  /** Path of the fleet's roles: the stack's, not the account's. */
  readonly rolePath: string;
}

export function awsAccount({ rolePath }: { readonly rolePath: string }): AwsAccount {
  const { partition, dnsSuffix } = aws.getPartitionOutput({});
  return {
    accountId: aws.getCallerIdentityOutput({}).accountId,
    region: aws.getRegionOutput({}).region,
    partition,
    dnsSuffix,
    rolePath,
  };
}
