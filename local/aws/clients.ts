import { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { IAMClient } from "@aws-sdk/client-iam";
import { KMSClient } from "@aws-sdk/client-kms";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SQSClient } from "@aws-sdk/client-sqs";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

/** Credentials as the AWS SDK takes them: fixed keys or a provider that fetches and renews them. */
export type AwsCredentials =
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  | (() => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date }>);

/** Services that the handlers call, by the name that endpoint settings use for them (`AWS_ENDPOINT_URL_<NAME>`, `aws:endpoints`). */
export const services = {
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

export type ServiceName = keyof typeof services;
export type ServiceClients = { readonly [S in ServiceName]: InstanceType<(typeof services)[S]> };

export interface AwsConfig {
  readonly region: string;
  /** Where a service is reached; undefined is refused, because the handlers must never reach the real AWS by default. */
  readonly endpoint: (service: ServiceName) => string | undefined;
  /** Default: the SDK's own chain (environment, shared files, web identity). */
  readonly credentials?: AwsCredentials;
  /** Profile of the shared files, for the default chain. */
  readonly profile?: string;
  /** Attempts per call, throttling included. Default 5. */
  readonly maxAttempts?: number;
  /** How long asynchronous operations are waited for, in milliseconds. Default 30 minutes. */
  readonly timeout?: number;
}

/** What a handler works with: clients for one region, and facts about the account. */
export interface Aws extends ServiceClients {
  readonly region: string;
  readonly partition: string;
  readonly dnsSuffix: string;
  readonly timeout: number;
  accountId(): Promise<string>;
  inRegion(region: string | undefined): Aws;
}

const partitions = [
  { prefix: "cn-", partition: "aws-cn", dnsSuffix: "amazonaws.com.cn" },
  { prefix: "us-gov-", partition: "aws-us-gov", dnsSuffix: "amazonaws.com" },
  { prefix: "", partition: "aws", dnsSuffix: "amazonaws.com" },
];

/** Partition and DNS suffix of a region (AWS General Reference, "Partitions"). */
export function partitionOf(region: string): { partition: string; dnsSuffix: string } {
  const found = partitions.find(({ prefix }) => region.startsWith(prefix));
  if (!found) throw new Error(`no AWS partition is known for region "${region}"`);
  return { partition: found.partition, dnsSuffix: found.dnsSuffix };
}

/** Clients are made on first use and share their connections. Throws when a service without an endpoint is used. */
export function createAws(config: AwsConfig): Aws {
  const regions = new Map<string, Aws>();
  const made = new Map<ServiceName, ServiceClients[ServiceName]>();
  let account: Promise<string> | undefined;

  const client = (service: ServiceName): ServiceClients[ServiceName] => {
    const existing = made.get(service);
    if (existing) return existing;
    const endpoint = config.endpoint(service);
    if (!endpoint) throw new Error(missingEndpoint(service));
    const created = new services[service]({
      region: config.region,
      endpoint,
      maxAttempts: config.maxAttempts ?? 5,
      ...(config.credentials && { credentials: config.credentials }),
      ...(config.profile && { profile: config.profile }),
    });
    made.set(service, created);
    return created;
  };

  const aws = {
    region: config.region,
    ...partitionOf(config.region),
    timeout: config.timeout ?? 30 * 60_000,
    accountId: () => (account ??= callerAccount(aws.sts)),
    inRegion(region: string | undefined): Aws {
      if (!region || region === config.region) return aws;
      const known = regions.get(region) ?? createAws({ ...config, region });
      regions.set(region, known);
      return known;
    },
  } as Aws;
  for (const service of Object.keys(services) as ServiceName[])
    Object.defineProperty(aws, service, { get: () => client(service), enumerable: true });
  return aws;
}

async function callerAccount(sts: STSClient): Promise<string> {
  const { Account } = await sts.send(new GetCallerIdentityCommand({}));
  if (!Account) throw new Error("sts:GetCallerIdentity returned no account id");
  return Account;
}

function missingEndpoint(service: ServiceName): string {
  return (
    `no endpoint is set for AWS service "${service}": this stand-in never talks to the real AWS. ` +
    `Set AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_${service.toUpperCase()}, or aws:endpoints), or use the official provider.`
  );
}
