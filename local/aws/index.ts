/** The AWS handlers: one per resource type, over the AWS SDK, for the Pulumi plugin and for the Crossplane controller. */
import { ampResources } from "./amp.ts";
import { cloudwatchlogsResources } from "./cloudwatchlogs.ts";
import { dynamodbResources } from "./dynamodb.ts";
import { ec2Resources } from "./ec2/index.ts";
import { eksResources } from "./eks/index.ts";
import { grafanaResources } from "./grafana.ts";
import type { Handler } from "./handler.ts";
import { iamResources } from "./iam/index.ts";
import { kmsResources } from "./kms.ts";
import { rdsResources } from "./rds.ts";
import { s3Resources } from "./s3.ts";
import { secretsmanagerResources } from "./secretsmanager.ts";
import { sqsResources } from "./sqs.ts";

export { withCallSettings } from "./call-settings.ts";
export * from "./clients.ts";
export * from "./compare.ts";
export * from "./connection.ts";
export { differenceOf } from "./difference.ts";
export * from "./errors.ts";
export { functions } from "./functions.ts";
export * from "./handler.ts";
export * from "./lifecycle.ts";
export type { Properties, Tags } from "./properties.ts";

const all: readonly Handler[] = [
  ...[ampResources, cloudwatchlogsResources, dynamodbResources, ec2Resources, eksResources, iamResources].flat(),
  ...[grafanaResources, kmsResources, rdsResources, s3Resources, secretsmanagerResources, sqsResources].flat(),
];

/** Handlers by Pulumi token. */
export const handlers: ReadonlyMap<string, Handler> = new Map(all.map((handler) => [handler.token, handler]));
