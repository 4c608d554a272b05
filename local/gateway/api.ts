import type { ApsContext } from "./aps/operation.ts";
import { apsApi } from "./aps/router.ts";
import { credentialScope, pathOf } from "./aws/credential-scope.ts";
import type { Forward } from "./aws/forward.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "./aws/http.ts";
import type { EksContext } from "./eks/operation.ts";
import { eksApi } from "./eks/router.ts";
import { type EksAuthContext, eksAuthApi } from "./eks-auth/service.ts";
import type { Faults } from "./faults/faults.ts";
import { throttled } from "./faults/throttle.ts";
import type { Grafana } from "./grafana/service.ts";
import type { GatewayKey } from "./key.ts";
import { StsError, stsErrorResponse } from "./sts/errors.ts";
import type { Issuers } from "./sts/token.ts";
import { assumeRoleWithWebIdentity, webIdentityForm } from "./sts/web-identity.ts";

/** What answers AWS requests. */
export interface AwsApi {
  readonly forward: Forward;
  readonly key: GatewayKey;
  readonly eks: EksContext;
  readonly eksAuth: EksAuthContext;
  readonly aps: ApsContext;
  /** Managed Grafana, started by its first call. */
  readonly grafana: () => Promise<Grafana>;
  readonly issuers: Issuers;
  readonly faults: () => Promise<Faults>;
  /** Whether a service has answered as many requests as the faults let it. */
  readonly exceeds: (service: string, faults: Faults) => boolean;
  /** Resolves when the answer to a request, which AWS has carried out, may go to whoever asked. */
  readonly mayAnswer: (request: HttpRequest, faults: Faults) => Promise<void>;
}

/**
 * Answers one request of the AWS API: EKS, EKS Auth, Managed Prometheus, Managed Grafana and web identity here, everything else by
 * ministack.
 */
export async function awsApi(request: HttpRequest, api: AwsApi): Promise<HttpResponse> {
  const faults = await api.faults();
  const response = await answer(request, api, faults);
  if (response.status < 300) await api.mayAnswer(request, faults);
  return response;
}

async function answer(request: HttpRequest, api: AwsApi, faults: Faults): Promise<HttpResponse> {
  const webIdentity = webIdentityForm(request);
  const scope = credentialScope(request);
  const service = webIdentity === undefined ? scope?.service : "sts";
  if (service !== undefined && api.exceeds(service, faults)) return throttled(service);
  if (webIdentity !== undefined) {
    const canBeAssumed = async (arn: string) =>
      faults.newRolesUnknownSeconds === 0 || (await api.eks.aws.role(arn.split("/").at(-1) ?? "")) !== undefined;
    return assumeRoleWithWebIdentity(request, webIdentity, { ...api, canBeAssumed });
  }
  // ministack's own pages (health, reset, consoles) and anonymous calls stay behind the gateway.
  if (scope === undefined || pathOf(request.url).startsWith("/_"))
    return stsErrorResponse(new StsError("MissingAuthenticationToken", "Request is missing Authentication Token", 403));
  try {
    if (scope.service === "eks") return await eksApi(request, api.eks, api);
    if (scope.service === "eks-auth") return await eksAuthApi(request, api.eksAuth, api);
    if (scope.service === "aps") return await apsApi(request, api.aps, api);
    if (scope.service === "grafana") return await (await api.grafana()).answer(request, api);
    return await api.forward(request);
  } catch (error) {
    if (isUnavailable(error))
      return jsonResponse(
        503,
        { message: `the AWS emulator does not answer: ${(error as Error).message}` },
        { "x-amzn-errortype": "ServiceUnavailableException" },
      );
    throw error;
  }
}

function isUnavailable(error: unknown): boolean {
  return ["ECONNREFUSED", "ECONNRESET", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
}
