import { ApiError, errorResponse } from "../aws/errors.ts";
import { type HttpResponse, jsonResponse } from "../aws/http.ts";
import { StsError, stsErrorResponse } from "../sts/errors.ts";
import type { Faults } from "./faults.ts";

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Gives a function that says whether a service has answered as many requests as it may. @param now milliseconds */
export function throttle(now: () => number): (service: string, faults: Pick<Faults, "requestsPerSecond">) => boolean {
  const buckets = new Map<string, Bucket>();
  return (service, { requestsPerSecond }) => {
    const rate = (requestsPerSecond as Readonly<Record<string, number>>)[service];
    if (rate === undefined) {
      buckets.delete(service);
      return false;
    }
    // A rate below one a second has room for one request.
    const size = Math.max(1, rate);
    const at = now();
    const bucket = buckets.get(service) ?? { tokens: size, filledAt: at };
    const tokens = Math.min(size, bucket.tokens + ((at - bucket.filledAt) / 1000) * rate);
    const exceeded = tokens < 1;
    buckets.set(service, { tokens: exceeded ? tokens : tokens - 1, filledAt: at });
    return exceeded;
  };
}

const xml = (status: number, body: string): HttpResponse => ({ status, headers: { "content-type": "text/xml" }, body });
const rest = (): HttpResponse => errorResponse(new ApiError("ThrottlingException", 429, "Rate exceeded", {}));
const query = (): HttpResponse => stsErrorResponse(new StsError("Throttling", "Rate exceeded"));

/** How services say it whose protocol is not JSON-RPC: codes and statuses as botocore retries them (botocore/data/_retry.json). */
const refusals: Readonly<Record<string, () => HttpResponse>> = {
  aps: rest,
  ec2: () =>
    xml(
      503,
      "<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message></Error></Errors></Response>",
    ),
  eks: rest,
  grafana: rest,
  iam: query,
  rds: query,
  route53: query,
  s3: () => xml(503, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"),
  sts: query,
};

/** What a throttled request to a service is answered. */
export const throttled = (service: string): HttpResponse =>
  refusals[service]?.() ?? jsonResponse(400, { __type: "ThrottlingException", message: "Rate exceeded" });
