import { ServiceQuotas } from "@aws-sdk/client-service-quotas";
import { ensureGatewayKey, rootCredentials } from "../gateway/key.ts";
import { REGION } from "../gateway/ministack.ts";
import type { Instance } from "../instance/index.ts";
import { type QuotaName, quotas } from "../product.ts";

/** Asks the embedded cloud for quotas of at least `value`, for what makes more than a new AWS account may. */
export async function raiseQuotas(instance: Instance, names: readonly QuotaName[], value: number): Promise<void> {
  const client = new ServiceQuotas({
    endpoint: instance.awsEndpoint,
    region: REGION,
    credentials: rootCredentials(await ensureGatewayKey(instance)),
  });
  for (const { service, code } of names.map((name) => quotas[name])) {
    const request = { ServiceCode: service, QuotaCode: code };
    const { Quota } = await client.getServiceQuota(request);
    if ((Quota?.Value ?? 0) < value) await client.requestServiceQuotaIncrease({ ...request, DesiredValue: value });
  }
}
