/** The configuration of the aws provider: region, profile, default tags, allowed accounts. */
import { type Aws, connectAws, type Tags } from "../../aws/index.ts";
import type { CheckFailure } from "../framework/index.ts";

/** What every resource call of the plugin works with. */
export interface Session {
  readonly aws: Aws;
  readonly defaultTags: Tags;
}

/** Implemented configuration, in the path syntax of the framework. */
export const acceptedConfig = [
  ...["region", "profile", "defaultTags.tags.*", "allowedAccountIds"],
  // The SDK's class Provider always sets these two; the stand-in validates neither.
  ...["skipCredentialsValidation", "skipRegionValidation"],
];

/** The plain configuration after the framework's check. */
export interface Config {
  region?: string;
  profile?: string;
  defaultTags?: { tags?: Tags };
  /** `pulumi config set --path` stores digits as numbers. */
  allowedAccountIds?: (string | number)[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const realAws = /\.(amazonaws\.com(\.cn)?|api\.aws)$/;

/**
 * Where all of AWS is reached.
 * @throws when AWS_ENDPOINT_URL is not set, or is an endpoint of AWS's own
 */
function endpointOf({ AWS_ENDPOINT_URL: endpoint }: Environment): string {
  const hint =
    "This stand-in never talks to the real AWS; use the official plugin for that (FLEET_PULUMI_PLUGINS=official).";
  if (!endpoint) throw new Error(`no endpoint of AWS is set: set AWS_ENDPOINT_URL. ${hint}`);
  if (realAws.test(new URL(endpoint).hostname)) throw new Error(`${endpoint} is an endpoint of AWS itself. ${hint}`);
  return endpoint;
}

const regionOf = (config: Config, environment: Environment): string | undefined =>
  config.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];

/** Mistakes that the shape of the configuration does not show. */
export function configFailures(config: Config, environment: Environment): CheckFailure[] {
  if (regionOf(config, environment)) return [];
  const reason = "no region is set: run `pulumi config set aws:region <region>` or set AWS_REGION";
  return [{ property: "region", reason }];
}

/** A connection by the configuration. */
export function awsOf(config: Config, environment: Environment): Aws {
  const region = regionOf(config, environment);
  if (!region) throw new Error(configFailures(config, environment)[0]?.reason);
  return connectAws({
    region,
    endpoint: endpointOf(environment),
    ...(config.profile && { profile: config.profile }),
  });
}

/**
 * Refuses to work in an account that the configuration does not allow.
 * @throws with the account that was found and those that are allowed.
 */
export async function checkAccount({ allowedAccountIds: allowed = [] }: Config, aws: Aws): Promise<void> {
  if (allowed.length === 0) return;
  const account = await aws.accountId();
  if (!allowed.map(String).includes(account))
    throw new Error(
      `the credentials are for AWS account ${account}, but aws:allowedAccountIds allows ${allowed.join(", ")}: use other credentials or correct the stack's configuration`,
    );
}
