import { spokeBoundary } from "../lib/iam/boundary.ts";
import { crossplanePolicy } from "../lib/iam/crossplane.ts";
import { arns, type PolicyDocument, partitionOf, policyLimits } from "../lib/iam/policy.ts";
import { tenantBoundary } from "../lib/iam/tenants.ts";
import { fleetNames } from "../lib/names.ts";
import type { Problem } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

/** The longest partition, account and region. */
const longest = { partition: "aws-us-gov", accountId: "000000000000", region: "ap-southeast-1" };

const lengthOf = (document: PolicyDocument): number => JSON.stringify(document).length;

function twice(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}

/** What the role of Crossplane on the hub may do, with the accounts whose roles it assumes. */
function makerLength(fleet: string, accounts: readonly string[], otherRegions: readonly string[]): number {
  const names = fleetNames(fleet);
  const named = arns(longest);
  const role = (accountId: string) => arns({ ...longest, accountId }).role(names.identityRole("crossplane"));
  return lengthOf(
    crossplanePolicy({
      ...longest,
      otherRegions,
      fleet,
      dnsSuffix: "amazonaws.com",
      spokePrefix: names.spokePrefix,
      boundaryArn: named.policy(names.boundaryPolicy),
      hubOidcProviderArn: named.oidcProvider(`oidc.eks.${longest.region}.amazonaws.com/id/${"A".repeat(32)}`),
      otherAccounts: accounts.map(role),
    }),
  );
}

/** The longest boundary in an account with spokes in some more regions. */
function boundaryLength(fleet: string, otherRegions: readonly string[]): number {
  const scope = { ...longest, otherRegions };
  const tenantBoundaryArn = arns(scope).policy(fleetNames(fleet).tenantBoundaryPolicy);
  return Math.max(lengthOf(spokeBoundary({ ...scope, fleet, tenantBoundaryArn })), lengthOf(tenantBoundary(scope)));
}

/** Each account and region once, regions of one partition, and as many as IAM's policies have room for. */
export function accountRules({ accounts = [], spokeRegions = [], fleet }: Readable): Problem[] {
  const remove = "remove one of the two";
  const repeated = [
    ...twice(accounts.map(({ id }) => id)).map((got) => ({ key: "accounts", what: "names an account twice", got })),
    ...accounts.flatMap(({ id, regions }) =>
      twice(regions).map((got) => ({ key: "accounts", what: `names a region of account ${id} twice`, got })),
    ),
    ...twice(spokeRegions).map((got) => ({ key: "spokeRegions", what: "names a region twice", got })),
  ].map((problem) => ({ ...problem, allowed: "each once", remedy: remove }));
  const regions = [...accounts.flatMap((account) => account.regions), ...spokeRegions];
  const partitions = [...new Set(regions.map(partitionOf))];
  const mixed: Problem[] =
    partitions.length < 2
      ? []
      : [
          {
            key: accounts.some((account) => account.regions.length > 0) ? "accounts" : "spokeRegions",
            what: "names regions of more than one partition",
            got: regions.join(", "),
            allowed: "regions of the hub's partition: IAM trusts nobody across partitions",
            remedy: "give the other partition a fleet of its own",
          },
        ];
  if (fleet === undefined || repeated.length > 0) return [...repeated, ...mixed];
  return [...mixed, ...tooMany(fleet, accounts, spokeRegions)];
}

/** Whether the boundaries have room for the regions; `key` names them. */
export const boundaryLengthRule = (key: string, fleet: string | undefined, otherRegions: readonly string[]) =>
  fleet === undefined || otherRegions.length === 0
    ? []
    : tooLong(key, boundaryLength(fleet, otherRegions), policyLimits.managed, "name fewer regions");

function tooLong(key: string, length: number, limit: number, remedy: string): Problem[] {
  if (length <= limit) return [];
  return [
    {
      key,
      what: "makes a policy that is too long for IAM",
      got: `${length} characters`,
      allowed: `at most ${limit} characters without white space`,
      remedy,
    },
  ];
}

function tooMany(
  fleet: string,
  accounts: NonNullable<Readable["accounts"]>,
  spokeRegions: readonly string[],
): Problem[] {
  const ids = accounts.map(({ id }) => id);
  return [
    ...(ids.length === 0
      ? []
      : tooLong(
          "accounts",
          makerLength(fleet, ids, spokeRegions),
          policyLimits.inlineRole,
          "give some of the accounts a fleet of their own",
        )),
    ...boundaryLengthRule("spokeRegions", fleet, spokeRegions),
  ];
}
