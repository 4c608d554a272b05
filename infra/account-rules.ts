import type { SecretsElsewhere } from "../lib/iam/boundary.ts";
import { boundaryDocuments } from "../lib/iam/company-denials.ts";
import { type CrossplaneScope, crossplanePolicies, providerPolicies } from "../lib/iam/crossplane.ts";
import {
  arns,
  dnsSuffix,
  noPath,
  type PolicyDocument,
  partitionOf,
  policyLimits,
  policyText,
  type Scope,
} from "../lib/iam/policy.ts";
import { fleetNames, hubSealingScope } from "../lib/names.ts";
import { duplicates, type Problem } from "../lib/problems.ts";
import { longestScope } from "./addon-rules.ts";
import type { Readable } from "./settings.ts";

const lengthOf = (document: PolicyDocument): number => policyText(document).length;

/** An account with spokes of a fleet. */
interface Place {
  readonly fleet: string;
  readonly scope: Scope;
  /** Where the fleet's secrets are, in an account that is not the hub's. */
  readonly secretsOf?: SecretsElsewhere;
  /** Keys of a company that volumes may have. */
  readonly volumeKeys: readonly string[];
}

const makerScope = ({ fleet, scope }: Place): CrossplaneScope => ({
  ...{ ...scope, fleet, spokePrefix: fleetNames(fleet).spokePrefix },
  dnsSuffix: dnsSuffix(scope.partition),
  boundaryArn: arns(scope).policy(fleetNames(fleet).boundaryPolicy),
});

/** Characters of the longest policy of Crossplane's providers in the hub's account, whose spokes are in `accounts` too. */
function providerLength(place: Place, accounts: Accounts): number {
  const named = arns(longestScope);
  const policies = providerPolicies({
    ...makerScope(place),
    hubOidcProviderArn: named.oidcProvider(`oidc.eks.${longestScope.region}.amazonaws.com/id/${"A".repeat(32)}`),
    otherAccounts: accounts.map(({ id }) =>
      arns({ ...place.scope, accountId: id }).role(fleetNames(place.fleet).crossplaneRole),
    ),
  });
  return Math.max(...Object.values(policies).map(lengthOf));
}

/** Characters of the longest boundary of the account; that of add-ons has a rule of its own. */
const boundaryLength = (place: Place): number =>
  Math.max(...Object.values(boundaryDocuments({ ...place, addonPermissions: [] })).map(lengthOf));

/** Each account and region once, regions of one partition, and as many as IAM's policies have room for. */
export function accountRules({
  accounts = [],
  spokeRegions = [],
  volumeKeys = [],
  sealingKeys,
  fleet,
  rolePath = noPath,
}: Readable): Problem[] {
  const remove = "remove one of the two";
  const repeated = [
    ...duplicates(accounts.map(({ id }) => id)).map((got) => ({
      key: "accounts",
      what: "names an account twice",
      got,
    })),
    ...accounts.flatMap(({ id, regions, scopes }) => [
      ...duplicates(regions).map((got) => ({ key: "accounts", what: `names a region of account ${id} twice`, got })),
      ...duplicates(scopes).map((got) => ({ key: "accounts", what: `names a scope of account ${id} twice`, got })),
    ]),
    ...duplicates(spokeRegions).map((got) => ({ key: "spokeRegions", what: "names a region twice", got })),
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
  const found = [...repeated, ...mixed, ...scopeRules(accounts, sealingKeys)];
  if (fleet === undefined || repeated.length > 0) return found;
  const place = { fleet, scope: { ...longestScope, rolePath, otherRegions: spokeRegions }, volumeKeys };
  if (accounts.length + spokeRegions.length === 0) return [...found, ...boundaryRules("volumeKeys", place)];
  return [...found, ...tooMany(place, accounts)];
}

type Accounts = NonNullable<Readable["accounts"]>;

/** Scopes have sealing keys to share, and the hub shares its own with nobody. */
function scopeRules(accounts: Accounts, sealingKeys: Readable["sealingKeys"]): Problem[] {
  if (sealingKeys === undefined) return [];
  const known = [...new Set(sealingKeys.map(({ scope }) => scope))].filter((scope) => scope !== hubSealingScope);
  return accounts.flatMap(({ id, scopes }) =>
    scopes
      .filter((scope) => !known.includes(scope))
      .map((got) => ({
        key: "accounts",
        what: `names a scope of account ${id} that has no sealing key to share`,
        got,
        allowed: known.join(", ") || "none: sealingKeys has no scope of spokes",
        remedy: "correct the scope, or add its key to sealingKeys",
      })),
  );
}

function tooLong(key: string, policy: string, length: number, limit: number, remedy: string): Problem[] {
  if (length <= limit) return [];
  return [
    {
      key,
      what: `makes ${policy} too long for IAM`,
      got: `${length} characters`,
      allowed: `at most ${limit} characters without white space`,
      remedy,
    },
  ];
}

const ofProvider = "the policy of one of Crossplane's providers";
const boundaries = "the fleet's permissions boundary";
const fewer = "name fewer regions";

/** Whether IAM has room for the boundary: without a company's keys `key` is what makes it too long. */
function boundaryRules(key: string, place: Place): Problem[] {
  const lengthWith = (count: number) => boundaryLength({ ...place, volumeKeys: place.volumeKeys.slice(0, count) });
  const count = place.volumeKeys.length;
  const withoutKeys = tooLong(key, boundaries, lengthWith(0), policyLimits.managed, fewer);
  if (withoutKeys.length > 0 || count === 0) return withoutKeys;
  const fitting = place.volumeKeys.findLastIndex((_, index) => lengthWith(index + 1) <= policyLimits.managed) + 1;
  const remedy =
    fitting > 0
      ? `name at most ${fitting} of the ${count} keys`
      : "name no key here: shorten the name of the fleet or name fewer regions first, because both take room";
  return tooLong("volumeKeys", boundaries, lengthWith(count), policyLimits.managed, remedy);
}

/** Whether IAM has room for the policies of another account than the hub's; `key` names its regions. */
export function placeLengthRules(key: string, place: Place): Problem[] {
  const { clusters, "oidc-providers": providers } = crossplanePolicies(makerScope(place));
  return [
    ...tooLong(key, "the policy of Crossplane's role", lengthOf(clusters), policyLimits.inlineRole, fewer),
    ...tooLong(
      key,
      "the policy with which Crossplane makes OIDC providers",
      lengthOf(providers),
      policyLimits.managed,
      fewer,
    ),
    ...boundaryRules(key, place),
  ];
}

function tooMany(place: Place, accounts: Accounts): Problem[] {
  const withoutAccounts = tooLong(
    "spokeRegions",
    ofProvider,
    providerLength(place, []),
    policyLimits.inlineRole,
    fewer,
  );
  const remedy = "give some accounts a fleet of their own";
  const length = providerLength(place, accounts);
  return [
    ...(withoutAccounts.length > 0
      ? withoutAccounts
      : tooLong("accounts", ofProvider, length, policyLimits.inlineRole, remedy)),
    ...boundaryRules("spokeRegions", place),
  ];
}
