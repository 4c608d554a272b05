import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from "@aws-sdk/client-service-quotas";
import { type QuotaName, quotas } from "../../lib/quotas.ts";
import type { AwsConfig } from "./aws.ts";

/**
 * The region in which Service Quotas has the quotas of IAM, which is global in its partition: that of IAM's own endpoint (AWS General
 * Reference).
 */
export function homeRegion(region: string): string {
  if (region.startsWith("us-gov-")) return "us-gov-west-1";
  return region.startsWith("cn-") ? "cn-north-1" : "us-east-1";
}

/** The applied value; AWS's default if Service Quotas has no other for the account. */
export async function inForce(name: QuotaName, region: string, config: AwsConfig): Promise<number | undefined> {
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
