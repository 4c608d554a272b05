import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { StsError } from "./errors.ts";

/** An OIDC provider registered in IAM. */
interface OidcProvider {
  readonly clientIds: readonly string[];
}

/** Where a token's issuer is looked up. */
export interface Issuers {
  /** The IAM OIDC provider with this URL, or undefined when the account has none. */
  provider(issuer: string): Promise<OidcProvider | undefined>;
  /** The keys of the cluster with this issuer, or undefined when no cluster of ours has it. `fresh` skips any cache. */
  keys(issuer: string, fresh: boolean): Promise<JSONWebKeySet | undefined>;
  /** AWS's time. */
  now(): Promise<Date>;
}

/** A token that passed every check; `audience` is the one of its audiences that the provider knows. */
export interface VerifiedToken {
  readonly claims: JWTPayload & { readonly iss: string; readonly sub: string };
  readonly audience: string;
}

/** The algorithms that IAM takes (AssumeRoleWithWebIdentity, "OIDC"): never an HMAC, never "none". */
const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"];

/**
 * Checks a web identity token as STS does: issuer registered in IAM, signed by that issuer's cluster, in its time, for a known audience.
 * Rejects with AWS's own codes: InvalidIdentityToken, ExpiredTokenException, IDPCommunicationError.
 */
export async function verifyToken(token: string, issuers: Issuers): Promise<VerifiedToken> {
  const { iss } = decode(token);
  if (typeof iss !== "string") throw invalid("Missing a required claim: iss");
  const provider = await issuers.provider(iss);
  if (provider === undefined) throw invalid(`No OpenIDConnect provider found in your account for ${iss}`);
  const claims = await verifySignature(token, iss, issuers);
  if (typeof claims.sub !== "string") throw invalid("Missing a required claim: sub");
  const audiences = typeof claims.aud === "string" ? [claims.aud] : (claims.aud ?? []);
  const audience = audiences.find((candidate) => provider.clientIds.includes(candidate));
  if (audience === undefined) throw invalid("Incorrect token audience");
  return { claims: { ...claims, iss, sub: claims.sub }, audience };
}

function decode(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw invalid("The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)");
  }
}

async function verifySignature(token: string, issuer: string, issuers: Issuers): Promise<JWTPayload> {
  for (const fresh of [false, true]) {
    const keys = await reachable(issuers.keys(issuer, fresh), issuer);
    if (keys === undefined)
      throw invalid(
        "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation for requirements",
      );
    try {
      const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
        issuer,
        algorithms: ALGORITHMS,
        requiredClaims: ["exp", "iat"],
        currentDate: await issuers.now(),
      });
      return payload;
    } catch (error) {
      // A key that was rotated since the last look.
      if (error instanceof errors.JWKSNoMatchingKey && !fresh) continue;
      throw refusal(error, await issuers.now());
    }
  }
  throw invalid("Couldn't retrieve verification key from your identity provider");
}

async function reachable(keys: Promise<JSONWebKeySet | undefined>, issuer: string): Promise<JSONWebKeySet | undefined> {
  try {
    return await keys;
  } catch (error) {
    throw new StsError("IDPCommunicationError", `The keys of ${issuer} could not be read: ${(error as Error).message}`);
  }
}

function refusal(error: unknown, now: Date): unknown {
  if (error instanceof errors.JWTExpired) {
    const expired = new Date((error.payload.exp ?? 0) * 1000).toISOString();
    return new StsError(
      "ExpiredTokenException",
      `Token expired: current date/time ${now.toISOString()} must be before the expiration date/time ${expired}`,
    );
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid("The signature of the token is invalid");
  if (error instanceof errors.JWTClaimValidationFailed)
    return invalid(`The claim ${error.claim} of the token is not valid: ${error.message}`);
  if (error instanceof errors.JWKSNoMatchingKey) return invalid("No key of the identity provider matches the token");
  if (error instanceof errors.JOSEError) return invalid(`The token can't be verified: ${error.message}`);
  return error;
}

const invalid = (message: string): StsError => new StsError("InvalidIdentityToken", message);
