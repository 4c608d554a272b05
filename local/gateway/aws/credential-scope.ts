import type { HttpRequest } from "./http.ts";

/** What a SigV4 signature says about its request. Nothing here is verified: ministack does that. */
export interface CredentialScope {
  readonly region: string;
  readonly service: string;
}

/** The credential scope of a signed request (header or query signature), or undefined when it carries no signature. */
export function credentialScope(request: Pick<HttpRequest, "headers" | "url">): CredentialScope | undefined {
  const header = /^AWS4-HMAC-SHA256 .*Credential=([^,\s]+)/.exec(request.headers["authorization"] ?? "")?.[1];
  const credential = header ?? queryOf(request.url).get("X-Amz-Credential") ?? undefined;
  const [, , region, service, term] = credential?.split("/") ?? [];
  return region !== undefined && service !== undefined && term === "aws4_request" ? { region, service } : undefined;
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
