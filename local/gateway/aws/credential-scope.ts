import type { HttpRequest } from "./http.ts";

export type CredentialScope = NonNullable<ReturnType<typeof credentialScope>>;

/**
 * The access key, region and service of a signed request (header or query signature), or undefined when it carries no signature. Nothing here
 * is verified: ministack does that.
 */
export function credentialScope(request: Pick<HttpRequest, "headers" | "url">) {
  const header = /^AWS4-HMAC-SHA256 .*Credential=([^,\s]+)/.exec(request.headers["authorization"] ?? "")?.[1];
  const credential = header ?? queryOf(request.url).get("X-Amz-Credential") ?? undefined;
  const [accessKeyId = "", , region, service, term] = credential?.split("/") ?? [];
  if (region === undefined || service === undefined || term !== "aws4_request") return undefined;
  return { accessKeyId, region, service };
}

/** The query of a path with query. */
export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
}

/** The path of a path with query, undecoded. */
export function pathOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? url : url.slice(0, at);
}
