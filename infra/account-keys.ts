import { keyArnPattern } from "../lib/iam/volume-key.ts";
import { type Key, list, listOf, slug, text } from "./forms.ts";

/** An account besides the hub's in which spokes may be. */
interface OtherAccount {
  readonly id: string;
  /** Without any: the hub's region. */
  readonly regions: readonly string[];
  /** Sealing scopes of its spokes: environments, and `cluster-<spoke>` for a spoke with `sealing: cluster`. */
  readonly scopes: readonly string[];
  /** Keys that volumes of its spokes may have, as `volumeKeys` of its own stack names them. */
  readonly volumeKeys: readonly string[];
}

const regionPattern = /^[a-z]{2}(-[a-z]+)+-\d$/;
const region: Key<string> = text(regionPattern, "an AWS region", "eu-west-1");
export const regionList = list(region);

/** An account ID. `pulumi config set --path` stores digits as a number. */
function accountId(value: unknown): string | undefined {
  const id = typeof value === "number" ? String(value) : value;
  return typeof id === "string" && /^\d{12}$/.test(id) ? id : undefined;
}

/** The provider's `aws:allowedAccountIds`: what keeps a stack out of other accounts, whatever credentials it gets. */
export const allowedAccounts = listOf(accountId, {
  allowed: "a list with the ID of the account that the stack is for, 12 digits",
  path: "[0]",
  example: "111122223333",
});

function otherAccount(value: unknown): OtherAccount | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { id, regions = [], scopes, volumeKeys = [], ...unknown } = value as Record<string, unknown>;
  const known = accountId(id);
  const all = (given: unknown, pattern: RegExp): given is string[] =>
    Array.isArray(given) && given.every((each) => typeof each === "string" && pattern.test(each));
  if (known === undefined || !all(regions, regionPattern) || !all(scopes, slug) || scopes.length === 0)
    return undefined;
  if (!all(volumeKeys, new RegExp(keyArnPattern))) return undefined;
  return Object.keys(unknown).length === 0 ? { id: known, regions, scopes, volumeKeys } : undefined;
}

/** The key of the fleet's secrets, which the hub's stack makes. */
export const secretsKeyArn: Key<string> = {
  ...text(
    /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/,
    "the ARN of a KMS key, which the hub's stack tells (pulumi stack output --json bridgeData | jq -r .secrets_kms_key_arn)",
    "'arn:aws:kms:<region>:<account of the hub>:key/<id>'",
  ),
  plaintext: true,
};

export const accountList = listOf(otherAccount, {
  allowed:
    "a list of {id: <12 digits in quotes>, regions: [<AWS region>, …], scopes: [<environment or cluster-<spoke>>, …], volumeKeys: [<ARN of a KMS key>, …]}, without regions the hub's, without volumeKeys none",
  path: "[0].id",
  example: "111122223333",
});
