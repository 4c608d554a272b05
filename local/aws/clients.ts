import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { IAMClient } from "@aws-sdk/client-iam";
import { KMSClient } from "@aws-sdk/client-kms";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { STSClient } from "@aws-sdk/client-sts";
import { type Aws, type ConnectionConfig, connectAws } from "./connection.ts";

export * from "./connection.ts";

/** The clients of every service that the handlers call. */
const classes = {
  cloudwatchlogs: CloudWatchLogsClient,
  dynamodb: DynamoDBClient,
  ec2: EC2Client,
  eks: EKSClient,
  iam: IAMClient,
  kms: KMSClient,
  secretsmanager: SecretsManagerClient,
  sqs: SQSClient,
  sts: STSClient,
} as const;

export interface AwsConfig extends ConnectionConfig {
  /** Where a service is reached; undefined is refused, because the handlers must never reach the real AWS by default. */
  readonly endpoint: NonNullable<ConnectionConfig["endpoint"]>;
}

/** Clients for all services; see {@link connectAws}. Throws when a service without an endpoint is used. */
export const createAws = (config: AwsConfig): Aws => connectAws(classes, config);
