/** The configuration of the aws provider: region, endpoints, credentials, default tags, account checks. */
import {
  type Aws,
  type AwsConfig,
  type AwsCredentials,
  createAws,
  type ServiceName,
  type Tags,
} from "../../aws/index.ts";
import type { CheckFailure } from "../framework/index.ts";

/** What every resource call of the plugin works with. */
export interface Session {
  readonly aws: Aws;
  readonly defaultTags: Tags;
}

/** Implemented configuration, in the path syntax of the framework. */
export const acceptedConfig = [
  ...["region", "profile", "accessKey", "secretKey", "token", "maxRetries", "defaultTags.tags.*", "endpoints.*"],
  ...["allowedAccountIds", "forbiddenAccountIds", "skipCredentialsValidation", "skipMetadataApiCheck"],
  ...["skipRegionValidation", "skipRequestingAccountId"],
];

/** The plain configuration after the framework's check. */
export interface Config {
  region?: string;
  profile?: string;
  accessKey?: string;
  secretKey?: string;
  token?: string;
  maxRetries?: number;
  defaultTags?: { tags?: Tags };
  endpoints?: Record<string, string>[];
  allowedAccountIds?: string[];
  forbiddenAccountIds?: string[];
  skipCredentialsValidation?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Names of the services in `AWS_ENDPOINT_URL_<NAME>` (AWS SDKs and Tools Reference, "Service-specific endpoints"). */
const environmentNames: Record<ServiceName, string> = {
  cloudwatchlogs: "CLOUDWATCH_LOGS",
  dynamodb: "DYNAMODB",
  ec2: "EC2",
  eks: "EKS",
  iam: "IAM",
  kms: "KMS",
  secretsmanager: "SECRETS_MANAGER",
  sqs: "SQS",
  sts: "STS",
};

const realAws = /\.(amazonaws\.com(\.cn)?|api\.aws)$/;

/**
 * The endpoint of a service: `aws:endpoints`, else `AWS_ENDPOINT_URL_<SERVICE>`, else `AWS_ENDPOINT_URL`.
 * @throws when there is none, or when it is one of AWS's own.
 */
export function endpointOf(config: Config, environment: Environment, service: ServiceName): string {
  const configured = config.endpoints?.map((endpoints) => endpoints[service]).find(Boolean);
  const name = `AWS_ENDPOINT_URL_${environmentNames[service]}`;
  const endpoint = configured ?? environment[name] ?? environment["AWS_ENDPOINT_URL"];
  const hint =
    "This stand-in never talks to the real AWS; use the official plugin for that (FLEET_PULUMI_PLUGINS=official).";
  if (!endpoint)
    throw new Error(
      `no endpoint is set for AWS service ${service}: set AWS_ENDPOINT_URL, ${name} or aws:endpoints. ${hint}`,
    );
  if (realAws.test(new URL(endpoint).hostname)) throw new Error(`${endpoint} is an endpoint of AWS itself. ${hint}`);
  return endpoint;
}

/** Mistakes that the shape of the configuration does not show. */
export function configFailures(config: Config, environment: Environment): CheckFailure[] {
  const failures: CheckFailure[] = [];
  const fail = (property: string, reason: string) => failures.push({ property, reason });
  if (!config.region && !environment["AWS_REGION"] && !environment["AWS_DEFAULT_REGION"])
    fail("region", "no region is set: run `pulumi config set aws:region <region>` or set AWS_REGION");
  if (Boolean(config.accessKey) !== Boolean(config.secretKey))
    fail("secretKey", "accessKey and secretKey belong together: set both or none");
  if (config.allowedAccountIds && config.forbiddenAccountIds)
    fail("forbiddenAccountIds", "set allowedAccountIds or forbiddenAccountIds, not both");
  return failures;
}

function ownCredentials(config: Config): AwsCredentials | undefined {
  if (!config.accessKey || !config.secretKey) return undefined;
  return {
    accessKeyId: config.accessKey,
    secretAccessKey: config.secretKey,
    ...(config.token && { sessionToken: config.token }),
  };
}

/** Clients by the configuration. The first endpoint is looked up here, so that a missing one is told before any resource. */
export function awsOf(config: Config, environment: Environment): Aws {
  const region = config.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  if (!region) throw new Error(configFailures(config, environment)[0]?.reason);
  const endpoint: AwsConfig["endpoint"] = (service) => endpointOf(config, environment, service);
  const credentials = ownCredentials(config);
  endpoint("sts");
  return createAws({
    region,
    endpoint,
    ...(credentials && { credentials }),
    ...(config.profile && { profile: config.profile }),
    ...(config.maxRetries !== undefined && { maxAttempts: config.maxRetries + 1 }),
  });
}

/**
 * Refuses to work in an account that the configuration does not allow.
 * @throws with the account that was found and those that are allowed.
 */
export async function checkAccount(config: Config, aws: Aws): Promise<void> {
  const { allowedAccountIds: allowed, forbiddenAccountIds: forbidden } = config;
  if (!allowed?.length && !forbidden?.length) return;
  const account = await aws.accountId();
  if (forbidden?.includes(account)) throw new Error(`AWS account ${account} is forbidden by aws:forbiddenAccountIds`);
  if (allowed?.length && !allowed.includes(account))
    throw new Error(
      `the credentials are for AWS account ${account}, but aws:allowedAccountIds allows ${allowed.join(", ")}: use other credentials or correct the stack's configuration`,
    );
}
