import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from "@aws-sdk/client-service-quotas";
import type { Readable } from "../../infra/settings.ts";
import { hubIdentities } from "../../lib/names.ts";
import { natGatewayCount } from "../../lib/nat-gateways.ts";
import { type QuotaName, quotas } from "../../lib/quotas.ts";
import { type AwsConfig, untold } from "./aws.ts";
import { type Finding, note, ok, unchecked, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";
import { counters, type Usage } from "./usage.ts";

/** What a hub or a spoke uses of each quota. */
export type Share = Readonly<Record<QuotaName, number>>;

/** What the hub of a stack uses. */
export function hubShare({
  vpcId,
  natGateways = "single",
  zones = 2,
  metrics = "none",
  clusterApi,
  argocdSpokes,
  argocdRoleArn,
}: Readable): Share {
  const gateways = vpcId ? 0 : natGatewayCount(natGateways, zones);
  return {
    vpcs: vpcId ? 0 : 1,
    gatewayEndpoints: vpcId ? 0 : 1,
    addresses: gateways,
    natGateways: Math.min(gateways, 1),
    clusters: 1,
    oidcProviders: 1,
    // Its control plane's, its nodes', and those of its controllers.
    roles:
      2 +
      hubIdentities.length +
      (metrics === "none" ? 0 : 1) +
      (clusterApi ? 1 : 0) +
      (argocdSpokes ? (argocdRoleArn ? 1 : 2) : 0),
  };
}

/** What a Spoke with only the required fields uses. */
export const spokeShare: Share = {
  vpcs: 1,
  gatewayEndpoints: 1,
  addresses: 1,
  natGateways: 1,
  clusters: 1,
  oidcProviders: 1,
  roles: 5,
};

/**
 * The region in which Service Quotas has the quotas of IAM, which is global in its partition: that of IAM's own endpoint (AWS General
 * Reference).
 */
function homeRegion(region: string): string {
  if (region.startsWith("us-gov-")) return "us-gov-west-1";
  return region.startsWith("cn-") ? "cn-north-1" : "us-east-1";
}

/** The applied value; AWS's default if Service Quotas has no other for the account. */
async function inForce(name: QuotaName, region: string, config: AwsConfig): Promise<number | undefined> {
  const { service, code } = quotas[name];
  const client = new ServiceQuotasClient({ ...config, region: service === "iam" ? homeRegion(region) : region });
  const request = { ServiceCode: service, QuotaCode: code };
  try {
    return (await client.send(new GetServiceQuotaCommand(request))).Quota?.Value;
  } catch (error) {
    // "If the applied quota value is not available for a quota, the quota is not retrieved" (API reference, GetServiceQuota).
    if ((error as Error).name !== "NoSuchResourceException") throw error;
    return (await client.send(new GetAWSDefaultServiceQuotaCommand(request))).Quota?.Value;
  }
}

interface Wanted {
  readonly name: QuotaName;
  readonly region: string;
  readonly hub: number;
  readonly spokes: number;
}

/** Compares what is left of a quota with what is going to be made. */
function judged({ name, region, hub, spokes }: Wanted, value: number, { used, ofHub }: Usage): Finding {
  const { name: title, service, code } = quotas[name];
  const own = Math.max(0, hub - ofHub);
  const needed = own + spokes * spokeShare[name];
  const account = `${value}, of which ${used} are in use; the hub takes ${own} more, ${spokes} more ${spokes === 1 ? "spoke" : "spokes"} ${spokes * spokeShare[name]}`;
  if (used + needed <= value) return ok(title, account);
  return wrong(
    title,
    account,
    `remove what is not used, or request an increase, which may take days:\naws service-quotas request-service-quota-increase --region ${
      service === "iam" ? homeRegion(region) : region
    } --service-code ${service} --quota-code ${code} --desired-value ${used + needed}`,
  );
}

async function look(wanted: Wanted, config: AwsConfig, usage: ReturnType<typeof counters>): Promise<Finding> {
  const { name, region } = wanted;
  const { name: title } = quotas[name];
  let value: number | undefined;
  try {
    value = await inForce(name, region, config);
  } catch (error) {
    return untold(title, error, "servicequotas:GetServiceQuota and servicequotas:GetAWSDefaultServiceQuota");
  }
  if (value === undefined)
    return unchecked(title, "Service Quotas has no value for it", "look it up in the console of Service Quotas");
  try {
    return judged(wanted, value, await usage[name].count());
  } catch (error) {
    return untold(title, error, usage[name].actions);
  }
}

/** Whether the account's quotas have room for the rest of the hub, and for `spokes` more spokes in its region and account. */
export async function checkQuotas(stack: Stack, spokes: number, config: AwsConfig): Promise<Finding[]> {
  const { settings, region } = stack;
  if (region === undefined || settings.fleet === undefined)
    return [note("quotas", "can't be checked without a region and a fleet", "complete the configuration first")];
  const share = hubShare(settings);
  const usage = counters(settings.fleet, { ...config, region });
  const names = Object.keys(quotas) as QuotaName[];
  return Promise.all(names.map((name) => look({ name, region, hub: share[name], spokes }, config, usage)));
}
