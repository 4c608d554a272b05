import type { AwsLookups } from "../aws/lookups.ts";
import { invalidParameter } from "./errors.ts";
import type { EksContext } from "./operation.ts";

/** An IAM principal that an access entry can be for. */
export interface Principal {
  readonly kind: "user" | "role";
  readonly name: string;
  /** With its path, as IAM gives it. */
  readonly arn: string;
  /** The ID by which IAM tells a role from one of the same name that is made later; undefined for users. */
  readonly roleId?: string | undefined;
}

/** Parts of the ARN of a user or role, or undefined for anything else. */
export function parsePrincipal(arn: string): { kind: "user" | "role"; name: string; account: string } | undefined {
  const match = /^arn:[^:]+:iam::(\d{12}):(user|role)\/(?:.*\/)?([^/]+)$/.exec(arn);
  return match === null
    ? undefined
    : { account: match[1] ?? "", kind: match[2] as "user" | "role", name: match[3] ?? "" };
}

/** Parts of the ARN of a role session: `arn:aws:sts::ACCOUNT:assumed-role/ROLE/SESSION`. */
export function parseSession(arn: string): { account: string; role: string; session: string } | undefined {
  const match = /^arn:[^:]+:sts::(\d{12}):assumed-role\/([^/]+)\/(.+)$/.exec(arn);
  return match === null ? undefined : { account: match[1] ?? "", role: match[2] ?? "", session: match[3] ?? "" };
}

/** The principal with this ARN, as IAM has it. Throws InvalidParameterException as EKS does. */
export async function existingPrincipal(context: EksContext, arn: string): Promise<Principal> {
  const parsed = parsePrincipal(arn);
  const found = parsed && (await principalNamed(context.awsOf(parsed.account), parsed.kind, parsed.name));
  if (found?.arn !== arn)
    throw invalidParameter(
      `The specified principalArn is invalid: invalid principal: there is no IAM user or role ${arn}`,
    );
  return found;
}

/** The user or role behind a caller (a session belongs to its role), or undefined for the account's root. */
export async function callerPrincipal(context: EksContext, caller: string): Promise<Principal | undefined> {
  const session = parseSession(caller);
  if (session !== undefined) return principalNamed(context.awsOf(session.account), "role", session.role);
  const parsed = parsePrincipal(caller);
  return parsed && principalNamed(context.awsOf(parsed.account), parsed.kind, parsed.name);
}

async function principalNamed(aws: AwsLookups, kind: "user" | "role", name: string): Promise<Principal | undefined> {
  const role = kind === "role" ? await aws.role(name) : undefined;
  const arn = kind === "user" ? await aws.userArn(name) : role?.arn;
  return arn === undefined ? undefined : { kind, name, arn, roleId: role?.id };
}

/** Checks that a role exists and trusts a service; gives its ARN. */
export async function assumableRole(context: EksContext, arn: string, service: string): Promise<string> {
  const role = await roleWithArn(context, arn);
  if (!role.trustPolicy.includes(service))
    throw invalidParameter(
      `Role with arn: ${arn}, could not be assumed because the trusted entity is not correct: its trust policy doesn't name ${service}`,
    );
  return arn;
}

/** The role with exactly this ARN. Throws InvalidParameterException where there is none. */
export async function roleWithArn(context: EksContext, arn: string) {
  const role = await context.aws.role(parsePrincipal(arn)?.name ?? arn);
  if (role?.arn !== arn)
    throw invalidParameter(`Role with arn: ${arn}, could not be assumed because it does not exist`);
  return role;
}
