import type { CloudWatchLogsClient } from "@aws-sdk/client-cloudwatch-logs";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EC2Client } from "@aws-sdk/client-ec2";
import type { EKSClient } from "@aws-sdk/client-eks";
import type { IAMClient } from "@aws-sdk/client-iam";
import type { KMSClient } from "@aws-sdk/client-kms";
import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { GetCallerIdentityCommand, type STSClient } from "@aws-sdk/client-sts";

/** Credentials as the AWS SDK takes them: fixed keys or a provider that fetches and renews them. */
export type AwsCredentials =
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  | (() => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date }>);

/** Clients by the service names of endpoint settings (`AWS_ENDPOINT_URL_<NAME>`, `aws:endpoints`). */
interface ServiceClients {
  readonly cloudwatchlogs: CloudWatchLogsClient;
  readonly dynamodb: DynamoDBClient;
  readonly ec2: EC2Client;
  readonly eks: EKSClient;
  readonly iam: IAMClient;
  readonly kms: KMSClient;
  readonly secretsmanager: SecretsManagerClient;
  readonly sqs: SQSClient;
  readonly sts: STSClient;
}

export type ServiceName = keyof ServiceClients;

/** What a client's constructor is given here. */
interface ClientSettings {
  readonly region: string;
  readonly endpoint?: string;
  readonly maxAttempts: number;
  readonly credentials?: AwsCredentials;
  readonly profile?: string;
}

/** The client classes that a program brings: each costs it memory. */
export type ServiceClasses = { readonly [S in ServiceName]?: new (settings: ClientSettings) => ServiceClients[S] } & {
  readonly sts: new (settings: ClientSettings) => STSClient;
};

export interface ConnectionConfig {
  readonly region: string;
  /** Where a service is reached; undefined is refused. Without this function they are reached under AWS's own names. */
  readonly endpoint?: (service: ServiceName) => string | undefined;
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

/**
 * Clients of the given classes, made on first use; they share their connections. Using a service fails whose class is
 * missing, or for which `endpoint` knows no address.
 */
export function connectAws(classes: ServiceClasses, config: ConnectionConfig): Aws {
  const regions = new Map<string, Aws>();
  const made = new Map<ServiceName, unknown>();
  let account: Promise<string> | undefined;

  const client = (service: ServiceName): unknown => {
    const existing = made.get(service);
    if (existing) return existing;
    const endpoint = config.endpoint?.(service);
    if (config.endpoint && !endpoint) throw new Error(missingEndpoint(service));
    const Class = classes[service];
    if (!Class) throw new Error(`this program has no client for AWS service "${service}": add it to its classes`);
    const created = new Class({
      region: config.region,
      maxAttempts: config.maxAttempts ?? 5,
      ...(endpoint && { endpoint }),
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
    accountId: () =>
      (account ??= callerAccount(aws.sts).catch((error: unknown) => {
        account = undefined; // asked again next time
        throw error;
      })),
    inRegion(region: string | undefined): Aws {
      if (!region || region === config.region) return aws;
      const known = regions.get(region) ?? connectAws(classes, { ...config, region });
      regions.set(region, known);
      return known;
    },
  } as Aws;
  for (const service of serviceNames)
    Object.defineProperty(aws, service, { get: () => client(service), enumerable: true });
  return aws;
}

const serviceNames: readonly ServiceName[] = [
  ...(["cloudwatchlogs", "dynamodb", "ec2", "eks", "iam", "kms", "secretsmanager", "sqs", "sts"] as const),
];

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
