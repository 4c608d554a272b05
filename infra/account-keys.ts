import { type Key, list, listOf, text } from "./forms.ts";

/** An account besides the hub's in which spokes may be. */
interface OtherAccount {
  readonly id: string;
  /** Without any: the hub's region. */
  readonly regions: readonly string[];
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
  const { id, regions = [], ...unknown } = value as Record<string, unknown>;
  const known = accountId(id);
  const isRegion = (each: unknown): each is string => typeof each === "string" && regionPattern.test(each);
  if (known === undefined || !Array.isArray(regions) || !regions.every(isRegion)) return undefined;
  return Object.keys(unknown).length === 0 ? { id: known, regions } : undefined;
}

/** The key of the fleet's secrets, which the hub's stack makes. */
export const secretsKeyArn = text(
  /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/,
  "the ARN of a KMS key, which the hub's stack tells (pulumi stack output --json bridgeData | jq -r .secrets_kms_key_arn)",
  "arn:aws:kms:<region>:<the hub's account>:key/<id>",
);

export const accountList = listOf(otherAccount, {
  allowed: "a list of {id: <12 digits in quotes>, regions: [<AWS region>, …]}, without regions the hub's",
  path: "[0].id",
  example: "111122223333",
});
