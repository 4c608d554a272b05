/** Every kind that the provider family serves here. A package's program imports only its own group. */
import { cloudwatchlogsResources } from "../../aws/cloudwatchlogs.ts";
import { dynamodbResources } from "../../aws/dynamodb.ts";
import { ec2Resources } from "../../aws/ec2/index.ts";
import { eksResources } from "../../aws/eks/index.ts";
import { iamResources } from "../../aws/iam/index.ts";
import { kmsResources } from "../../aws/kms.ts";
import { rdsResources } from "../../aws/rds.ts";
import { s3Resources } from "../../aws/s3.ts";
import { sqsResources } from "../../aws/sqs.ts";
import { clusterAuth } from "./cluster-auth.ts";
import { type Kind, kindsOf } from "./kind.ts";

export const families = {
  cloudwatchlogs: kindsOf(cloudwatchlogsResources),
  dynamodb: kindsOf(dynamodbResources),
  ec2: kindsOf(ec2Resources),
  eks: kindsOf([...eksResources, clusterAuth]),
  iam: kindsOf(iamResources),
  kms: kindsOf(kmsResources),
  rds: kindsOf(rdsResources),
  s3: kindsOf(s3Resources),
  sqs: kindsOf(sqsResources),
} as const satisfies Record<string, readonly Kind[]>;

export const allKinds: readonly Kind[] = Object.values(families).flat();
