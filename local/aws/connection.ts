import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

/** Credentials as the AWS SDK takes them: fixed keys or a provider that fetches and renews them. */
export type AwsCredentials =
  | { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  | (() => Promise<{ accessKeyId: string; secretAccessKey: string; sessionToken?: string; expiration?: Date }>);

export interface ConnectionConfig {
  readonly region: string;
  /** Where all services are reached. Default: AWS's own names. */
  readonly endpoint?: string;
  /** Default: the SDK's own chain (environment, shared files, web identity). */
  readonly credentials?: AwsCredentials;
  /** Profile of the shared files, for the default chain. */
  readonly profile?: string;
  /** Attempts per call, throttling included. Default 5. */
  readonly maxAttempts?: number;
  /** How long asynchronous operations are waited for, in milliseconds. Default 30 minutes. */
  readonly timeout?: number;
}

/** A client class of the SDK. A program bundles only those that its resources name: each costs it memory. */
type ClientClass<C> = new (settings: Omit<ConnectionConfig, "timeout">) => C;

/** What a handler works with: clients for one region, and facts about the account. */
export interface Aws {
  readonly region: string;
  readonly partition: string;
  readonly dnsSuffix: string;
  readonly timeout: number;
  /** The client of a service, made on first use. */
  client<C>(Class: ClientClass<C>): C;
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

/** A connection to one account and region. */
export function connectAws(config: ConnectionConfig): Aws {
  const { timeout = 30 * 60_000, ...settings } = config;
  const regions = new Map<string, Aws>();
  const clients = new Map<unknown, unknown>();
  let account: Promise<string> | undefined;
  const aws: Aws = {
    region: config.region,
    ...partitionOf(config.region),
    timeout,
    client<C>(Class: ClientClass<C>): C {
      const known = (clients.get(Class) as C | undefined) ?? new Class({ maxAttempts: 5, ...settings });
      clients.set(Class, known);
      return known;
    },
    accountId: () =>
      (account ??= callerAccount(aws).catch((error: unknown) => {
        account = undefined; // asked again next time
        throw error;
      })),
    inRegion(region) {
      if (!region || region === config.region) return aws;
      const known = regions.get(region) ?? connectAws({ ...config, region });
      regions.set(region, known);
      return known;
    },
  };
  return aws;
}

async function callerAccount(aws: Aws): Promise<string> {
  const { Account } = await aws.client(STSClient).send(new GetCallerIdentityCommand({}));
  if (!Account) throw new Error("sts:GetCallerIdentity returned no account id");
  return Account;
}
