import { type Finding, unchecked, wrong } from "./finding.ts";

/** The options of every client of the AWS SDK: outside tests only a region, so credentials and endpoints come from the environment. */
export interface AwsConfig {
  readonly region?: string;
  readonly endpoint?: string;
  /** Of the AWS CLI; default: that of the environment. */
  readonly profile?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Error codes of AWS for a missing permission. */
const DENIED = /^(AccessDenied|AccessDeniedException|UnauthorizedOperation|AuthorizationError)$/;
/** Error codes of AWS for credentials that are no longer valid, or never were. */
const NO_LOGIN =
  /^(CredentialsProviderError|TokenProviderError|ExpiredToken|ExpiredTokenException|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|AuthFailure)$/;

/** Whether AWS refused a call for want of a permission. */
export const isDenied = (error: unknown): boolean => DENIED.test((error as Error).name);

/** Whether AWS refused the credentials, or there were none. */
export const isNoLogin = (error: unknown): boolean => NO_LOGIN.test((error as Error).name);

/** Error codes of AWS for what is not there: most services', IAM's, and KMS's. */
const MISSING = /^(ResourceNotFoundException|NoSuchEntity(Exception)?|NotFoundException)$/;

/** Whether AWS has no such resource. */
export const isMissing = (error: unknown): boolean => MISSING.test((error as Error).name);

/** Whether a service control policy of the organization denies the call, as AWS Control Tower's do in regions that it doesn't govern. */
const isDeniedByOrganization = (error: unknown): boolean =>
  isDenied(error) && /explicit deny in a service control policy/.test((error as Error).message);

/** The finding when a call of AWS failed; `action` is the IAM action that it needs. */
export function untold(name: string, error: unknown, action: string): Finding {
  const { name: code, message } = error as Error;
  if (isDeniedByOrganization(error))
    return wrong(
      name,
      `your organization denies it: ${message}`,
      "use a region that it allows (AWS Control Tower: a governed Region), or ask the owners of its service control policies",
    );
  if (isDenied(error)) return unchecked(name, `AWS denies access: ${message}`, `allow this identity ${action}`);
  return unchecked(
    name,
    `AWS did not answer: ${code}: ${message}`,
    isNoLogin(error) ? logIn : "fix this, then run fleet doctor again",
  );
}

/** How to get valid credentials. */
export const logIn = "aws sso login, or set AWS_PROFILE to a profile with credentials that are valid";

/** The finding of checks that need a login. */
export const noLogin = (name: string): Finding => unchecked(name, "AWS can't be asked before the login works", logIn);
