import { isDataPlane } from "./aps/data-plane.ts";
import type { ApsContext } from "./aps/operation.ts";
import { apsApi } from "./aps/router.ts";
import { accountOfArn } from "./aws/account-of-key.ts";
import { type CredentialScope, credentialScope, pathOf } from "./aws/credential-scope.ts";
import type { Forward } from "./aws/forward.ts";
import { type HttpRequest, type HttpResponse, jsonResponse } from "./aws/http.ts";
import { isRegistryCall } from "./aws/registry-call.ts";
import type { EksContext } from "./eks/operation.ts";
import { eksApi } from "./eks/router.ts";
import { type EksAuthContext, eksAuthApi } from "./eks-auth/service.ts";
import type { Faults } from "./faults/faults.ts";
import { throttled } from "./faults/throttle.ts";
import type { Grafana } from "./grafana/service.ts";
import type { GatewayKey } from "./key.ts";
import { ACCOUNT } from "./ministack.ts";
import { StsError, stsErrorResponse } from "./sts/errors.ts";
import type { Issuers } from "./sts/token.ts";
import { assumeRoleWithWebIdentity, webIdentityForm } from "./sts/web-identity.ts";

/** What answers AWS requests. */
export interface AwsApi {
  readonly forward: Forward;
  readonly key: GatewayKey;
  /** The account of an access key. */
  readonly accountOf: (accessKeyId: string) => Promise<string>;
  /** EKS as an account sees it. */
  readonly eks: (account: string) => EksContext;
  readonly eksAuth: (account: string) => EksAuthContext;
  readonly aps: ApsContext;
  /** Managed Grafana, started by its first call. */
  readonly grafana: () => Promise<Grafana>;
  /** What an account knows of issuers of web identity tokens. */
  readonly issuers: (account: string) => Issuers;
  readonly faults: () => Promise<Faults>;
  /** What AWS's clock says. */
  readonly awsTime: () => Promise<Date>;
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
  return faults.clockAheadSeconds === 0 ? response : dated(response, await api.awsTime());
}

/** SDKs correct their clocks by the header. */
const dated = (response: HttpResponse, time: Date): HttpResponse => ({
  ...response,
  headers: { ...response.headers, date: time.toUTCString() },
});

async function answer(request: HttpRequest, api: AwsApi, faults: Faults): Promise<HttpResponse> {
  const webIdentity = webIdentityForm(request);
  const scope = credentialScope(request);
  const service = webIdentity === undefined ? scope?.service : "sts";
  if (service !== undefined && api.exceeds(service, faults)) return throttled(service);
  if (webIdentity !== undefined) {
    const account = accountOfArn(webIdentity.get("RoleArn") ?? "");
    const canBeAssumed = async (arn: string) =>
      faults.newRolesUnknownSeconds === 0 ||
      (await api.eks(account).aws.role(arn.split("/").at(-1) ?? "")) !== undefined;
    return assumeRoleWithWebIdentity(request, webIdentity, { ...api, issuers: api.issuers(account), canBeAssumed });
  }
  // Clients of a registry have a password of ECR, and no signature.
  if (isRegistryCall(request)) return api.forward(request);
  // ministack's own pages (health, reset, consoles) and anonymous calls stay behind the gateway.
  if (scope === undefined || pathOf(request.url).startsWith("/_"))
    return stsErrorResponse(new StsError("MissingAuthenticationToken", "Request is missing Authentication Token", 403));
  try {
    return await served(request, scope, api);
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

/** Answers a signed request as the account of its access key sees it; ministack says later whether the key has signed it. */
async function served(request: HttpRequest, scope: CredentialScope, api: AwsApi): Promise<HttpResponse> {
  const account = () => api.accountOf(scope.accessKeyId);
  if (scope.service === "eks") return eksApi(request, api.eks(await account()), api);
  if (scope.service === "eks-auth") return eksAuthApi(request, api.eksAuth(await account()), api);
  if (scope.service !== "aps" && scope.service !== "grafana") return api.forward(request);
  // What another account asks of a workspace is refused by the workspace's ARN.
  if ((scope.service === "grafana" || !isDataPlane(request)) && (await account()) !== ACCOUNT)
    return jsonResponse(
      403,
      { message: `the embedded cloud serves ${scope.service} to account ${ACCOUNT} only, not to ${await account()}` },
      { "x-amzn-errortype": "AccessDeniedException" },
    );
  return scope.service === "aps" ? apsApi(request, api.aps, api) : (await api.grafana()).answer(request, api);
}

function isUnavailable(error: unknown): boolean {
  return ["ECONNREFUSED", "ECONNRESET", "EPIPE"].includes((error as NodeJS.ErrnoException).code ?? "");
}
