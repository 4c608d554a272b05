import { type Finding, unchecked } from "./finding.ts";

/** What every client of the AWS SDK is made with: nothing but a region in real life, so credentials and endpoints are the caller's. */
export interface AwsConfig {
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Codes with which AWS's services refuse for lack of a right. */
const DENIED = /^(AccessDenied|AccessDeniedException|UnauthorizedOperation|AuthorizationError)$/;
/** Codes for credentials that count no more, or never did. */
const NO_LOGIN =
  /^(CredentialsProviderError|TokenProviderError|ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|AuthFailure)$/;

/** Whether AWS refused the credentials, or there were none to show. */
export const isNoLogin = (error: unknown): boolean => NO_LOGIN.test((error as Error).name);

export const isMissing = (error: unknown): boolean => (error as Error).name === "ResourceNotFoundException";

/** The finding for what AWS did not tell; `action` is the IAM action that would tell it. */
export function untold(name: string, error: unknown, action: string): Finding {
  const { name: code, message } = error as Error;
  if (DENIED.test(code)) return unchecked(name, `AWS denies access: ${message}`, `allow this identity ${action}`);
  return unchecked(
    name,
    `AWS did not answer: ${code}: ${message}`,
    isNoLogin(error) ? logIn : "fix that, and run this again",
  );
}

/** How one gets credentials that count. */
export const logIn = "aws sso login, or set AWS_PROFILE to a profile with credentials that are valid";

/** For what can't be asked before one has logged in. */
export const noLogin = (name: string): Finding => unchecked(name, "AWS can't be asked before the login works", logIn);
