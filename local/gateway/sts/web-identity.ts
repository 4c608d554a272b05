import { queryOf } from "../aws/credential-scope.ts";
import type { Forward } from "../aws/forward.ts";
import type { HttpRequest, HttpResponse } from "../aws/http.ts";
import type { GatewayKey } from "../key.ts";
import { escapeXml, StsError, stsErrorResponse } from "./errors.ts";
import { type Issuers, type VerifiedToken, verifyToken } from "./token.ts";

/** Limits of DurationSeconds (AssumeRoleWithWebIdentity, API reference), in seconds. */
const DURATION = { least: 900, most: 43_200 };

/** The form of an AssumeRoleWithWebIdentity call (POST form or GET query), or undefined for any other call. */
export function webIdentityForm(request: HttpRequest): URLSearchParams | undefined {
  const form = new URLSearchParams(queryOf(request.url));
  if (request.method === "POST")
    for (const [name, value] of new URLSearchParams(request.body.toString("utf8"))) form.append(name, value);
  return form.getAll("Action").includes("AssumeRoleWithWebIdentity") ? form : undefined;
}

export interface WebIdentityContext {
  readonly forward: Forward;
  readonly key: GatewayKey;
  readonly issuers: Issuers;
  /** Whether STS knows of a role already. */
  readonly canBeAssumed: (roleArn: string) => Promise<boolean>;
}

/**
 * AssumeRoleWithWebIdentity: the token is checked here, then ministack decides by the role's trust policy on the same claims,
 * signed by the gateway, with the audience as a string (Kubernetes sends an array, which fails ministack's StringEquals).
 */
export async function assumeRoleWithWebIdentity(
  request: HttpRequest,
  form: URLSearchParams,
  context: WebIdentityContext,
): Promise<HttpResponse> {
  try {
    const token = await verifyToken(one(form, "WebIdentityToken"), context.issuers);
    if (!(await context.canBeAssumed(one(form, "RoleArn"))))
      throw new StsError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", 403);
    const body = Buffer.from((await trustedForm(form, token, context.key)).toString());
    const host = request.headers["host"] ?? "";
    const answer = await context.forward({
      method: "POST",
      url: "/",
      rawHeaders: ["Host", host, "Content-Type", "application/x-www-form-urlencoded"],
      headers: {},
      body,
    });
    return answer.status === 200 ? { ...answer, body: withSubject(answer.body.toString(), token) } : answer;
  } catch (error) {
    if (error instanceof StsError) return stsErrorResponse(error);
    throw error;
  }
}

async function trustedForm(form: URLSearchParams, token: VerifiedToken, key: GatewayKey): Promise<URLSearchParams> {
  const narrowing = [...form.keys()].find((name) => name === "Policy" || name.startsWith("PolicyArns"));
  // ministack drops session policies of this call: the session would be wider than asked for.
  if (narrowing !== undefined)
    throw new StsError(
      "ValidationError",
      `${narrowing} is not served by the embedded cloud for AssumeRoleWithWebIdentity: narrow the role's own policies`,
    );
  const duration = Number(form.get("DurationSeconds") ?? 3600);
  if (!Number.isInteger(duration) || duration < DURATION.least || duration > DURATION.most)
    throw new StsError(
      "ValidationError",
      `DurationSeconds: got ${form.get("DurationSeconds") ?? ""}, allowed are ${DURATION.least} to ${DURATION.most}`,
    );
  return new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: one(form, "RoleArn"),
    RoleSessionName: one(form, "RoleSessionName"),
    DurationSeconds: String(duration),
    WebIdentityToken: await key.sign({ ...token.claims, aud: token.audience }),
  });
}

function one(form: URLSearchParams, name: string): string {
  const values = form.getAll(name);
  if (values.length !== 1 || values[0] === undefined || values[0] === "")
    throw new StsError(
      "ValidationError",
      `1 validation error detected: ${name}: exactly one value is required, got ${values.length}`,
    );
  return values[0];
}

// ministack answers with constants here.
function withSubject(xml: string, token: VerifiedToken): string {
  const put = (text: string, element: string, value: string): string =>
    text.replace(new RegExp(`<${element}>[^<]*</${element}>`), () => `<${element}>${escapeXml(value)}</${element}>`);
  return put(
    put(put(xml, "SubjectFromWebIdentityToken", token.claims.sub), "Audience", token.audience),
    "Provider",
    token.claims.iss,
  );
}
