import { AmpClient } from "@aws-sdk/client-amp";
import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { IAMClient } from "@aws-sdk/client-iam";
import { KMSClient } from "@aws-sdk/client-kms";
import { RDSClient } from "@aws-sdk/client-rds";
import { S3Client } from "@aws-sdk/client-s3";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { STSClient } from "@aws-sdk/client-sts";
import { type Aws, type ConnectionConfig, connectAws } from "./connection.ts";

const classes = {
  amp: AmpClient,
  cloudwatchlogs: CloudWatchLogsClient,
  dynamodb: DynamoDBClient,
  ec2: EC2Client,
  eks: EKSClient,
  iam: IAMClient,
  kms: KMSClient,
  rds: RDSClient,
  s3: S3Client,
  secretsmanager: SecretsManagerClient,
  sqs: SQSClient,
  sts: STSClient,
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
