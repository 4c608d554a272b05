import * as pulumi from "@pulumi/pulumi";
import { userError } from "../components/user-error.ts";
import type { SpokePlaces } from "../lib/bridge-forms.ts";
import { arns, type PolicyDocument, partitionOf } from "../lib/iam/policy.ts";
import { readersOf, type SharingScope, sealingKeyPolicy, secretsKeyPolicy } from "../lib/iam/sharing.ts";
import { fleetNames } from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import type { Settings } from "./settings.ts";

/** The places of spokes besides the hub's account and region: what their accounts may read of the hub's, and what the hub assumes there. */

type Places = Pick<Settings, "accounts" | "spokeRegions">;
type PlacesWithKeys = Places & Pick<Settings, "volumeKeys">;

/** Keys of volumes, where there are any. */
const withKeys = (volumeKeys: readonly string[]) => (volumeKeys.length > 0 ? { volumeKeys } : {});

/** A scope with further regions, without its own. */
const withRegions = <T extends { readonly region: string }>(scope: T, { spokeRegions }: Places) => ({
  ...scope,
  otherRegions: spokeRegions.filter((region) => region !== scope.region),
});

/**
 * The hub's account with all regions of its spokes.
 * @throws RunError (in the output) for an account or region that spokes can't be in; the configuration alone does not show it.
 */
export const spokeScope = (settings: Settings, account: AwsAccount) =>
  pulumi.output(account).apply((scope) => {
    const problem = placeProblem(settings, scope);
    if (problem !== undefined) throw userError(problem);
    return withRegions(scope, settings);
  });

/** What is wrong with the places, as only the hub's account and region show it. */
export function placeProblem(
  { accounts, spokeRegions }: Places,
  { accountId, region }: { readonly accountId: string; readonly region: string },
): string | undefined {
  if (accounts.some(({ id }) => id === accountId))
    return `accounts names ${accountId}, which is the hub's own account: name its further regions in spokeRegions, and take it out of accounts`;
  const foreign = [...spokeRegions, ...accounts.flatMap(({ regions }) => regions)].filter(
    (each) => partitionOf(each) !== partitionOf(region),
  );
  if (foreign.length === 0) return undefined;
  return (
    `accounts and spokeRegions name regions of another partition than the hub's region ${region}: got ${foreign.join(", ")}; ` +
    "IAM trusts nobody across partitions, so give that partition a fleet of its own"
  );
}

/** Every account in which spokes may be, with its regions, keys of volumes and the sealing scopes of its spokes: in the hub's all. */
export function spokePlaces(
  settings: PlacesWithKeys,
  scope: { readonly accountId: string; readonly region: string },
): SpokePlaces {
  const { region, otherRegions } = withRegions(scope, settings);
  const own = [scope.accountId, { regions: [region, ...otherRegions], ...withKeys(settings.volumeKeys) }] as const;
  const others = settings.accounts.map(
    ({ id, regions, scopes, volumeKeys }) =>
      [id, { regions: regions.length > 0 ? regions : [region], scopes, ...withKeys(volumeKeys) }] as const,
  );
  return Object.fromEntries([own, ...others]);
}

/** Roles of Crossplane in the other accounts, which the stack there makes (infra/account). */
export const otherRoles = (
  { accounts, fleet }: Settings,
  scope: { readonly partition: string; readonly region: string },
) => accounts.map(({ id }) => arns({ ...scope, accountId: id }).role(fleetNames(fleet).crossplaneRole));

/** What spokes in other accounts may do with the fleet's secrets and their key; undefined where there are none. */
export function sharing(settings: Settings, account: AwsAccount) {
  const { accounts, fleet } = settings;
  if (accounts.length === 0) return undefined;
  const policy = (of: (scope: SharingScope) => PolicyDocument) =>
    pulumi.output(account).apply((scope) => of({ ...scope, fleet, accounts }));
  return {
    keyPolicy: policy(secretsKeyPolicy),
    secretPolicy: (sealingScope: string) =>
      readersOf(accounts, sealingScope).length > 0
        ? policy((scope) => sealingKeyPolicy(scope, sealingScope))
        : undefined,
  };
}
