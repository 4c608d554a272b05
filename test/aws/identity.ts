import { partitionOf } from "../../lib/iam/policy.ts";
import type { Environment } from "./environment.ts";

/** What AWS says of the caller (sts:GetCallerIdentity). */
export interface Caller {
  readonly Account?: string | undefined;
  readonly Arn?: string | undefined;
}

/** Who runs the proof. */
export interface Identity {
  readonly accountId: string;
  readonly partition: string;
  /** IAM role or user, for an access entry of the spoke. */
  readonly admin: string;
}

/**
 * The IAM role or user behind a caller. The ARN of a session has no path, the role's may have one: FLEET_AWS_ADMIN says it then
 * (IAM User Guide, "IAM identifiers").
 */
export function principalOf(arn: string): string {
  const [, partition, account, role] = /^arn:([^:]+):sts::(\d+):assumed-role\/([^/]+)\//.exec(arn) ?? [];
  return role === undefined ? arn : `arn:${partition}:iam::${account}:role/${role}`;
}

/** @throws when the caller's account is not the one that was confirmed, or when it is the account's root user. */
export function confirmed({ Account, Arn = "" }: Caller, { account, region, admin }: Environment): Identity {
  if (Account !== account)
    throw new Error(
      `FLEET_AWS_CONFIRM_ACCOUNT is ${account}, but the credentials are of account ${Account ?? "(unknown)"} (${Arn}); nothing was changed. ` +
        "Log in to the account that is meant, or name the other one if that is meant",
    );
  if (Arn.endsWith(":root"))
    throw new Error(`the credentials are the root user's (${Arn}); nothing was changed. Take an IAM role`);
  return { accountId: Account, partition: partitionOf(region), admin: admin ?? principalOf(Arn) };
}
