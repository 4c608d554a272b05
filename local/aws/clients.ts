import { Amp } from "@aws-sdk/client-amp";
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { EC2 } from "@aws-sdk/client-ec2";
import { EKS } from "@aws-sdk/client-eks";
import { IAM } from "@aws-sdk/client-iam";
import { KMS } from "@aws-sdk/client-kms";
import { RDS } from "@aws-sdk/client-rds";
import { S3 } from "@aws-sdk/client-s3";
import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { SQS } from "@aws-sdk/client-sqs";
import { STS } from "@aws-sdk/client-sts";
import { type Aws, type ConnectionConfig, connectAws } from "./connection.ts";

const classes = {
  amp: Amp,
  cloudwatchlogs: CloudWatchLogs,
  dynamodb: DynamoDB,
  ec2: EC2,
  eks: EKS,
  iam: IAM,
  kms: KMS,
  rds: RDS,
  s3: S3,
  secretsmanager: SecretsManager,
  sqs: SQS,
  sts: STS,
};

/** A connection with the client of each service as a property. */
export type AwsClients = Aws & { readonly [S in keyof typeof classes]: InstanceType<(typeof classes)[S]> };

/** A connection for commands and tests. They name an endpoint, so that none reaches the real AWS by default. */
export function createAws(config: ConnectionConfig & { readonly endpoint: string }): AwsClients {
  const aws = connectAws(config);
  for (const [service, Class] of Object.entries(classes))
    Object.defineProperty(aws, service, { get: () => aws.client<object>(Class), enumerable: true });
  return aws as AwsClients;
}
