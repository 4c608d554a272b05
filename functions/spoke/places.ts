import { sealingScope } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import type { SpokeProblem } from "./problems.ts";

/** Where spokes may be: in the accounts, regions and sealing scopes that the stack names (`accounts`, `spokeRegions`). */

type Where = Pick<Spoke, "spec">;

/** Whether a spoke is in another account than the hub. */
export const isElsewhere = ({ spec }: Where, hub: Hub): boolean =>
  spec.account !== undefined && spec.account.id !== hub.aws.accountId;

/** What the stack configures for the spoke's account; undefined for an account that the hub does not have. */
export const placeOf = ({ spec }: Where, { aws, spokePlaces }: Hub): Hub["spokePlaces"][string] | undefined =>
  spokePlaces[spec.account?.id ?? aws.accountId];

/** Why a spoke could not read the sealing keys of its scope. */
function scopeProblems({ spec, metadata }: Spoke, scopes: readonly string[] | undefined): SpokeProblem[] {
  const scope = sealingScope({ ...spec, name: metadata.name });
  if (scopes === undefined || scopes.includes(scope)) return [];
  const message =
    `the sealing keys of ${scope} are not shared with account ${spec.account?.id}: its scopes in accounts of the stack are ${scopes.join(", ")}. ` +
    `Add ${scope} there and run pulumi up; or remove this Spoke and add it again where its scope is`;
  return [{ reason: "ScopeNotAllowed", message }];
}

/** Why a spoke can't be where it is asked for: nothing there lets the fleet in. */
export function placeProblems(spoke: Spoke, hub: Hub): SpokeProblem[] {
  const { region, account } = spoke.spec;
  const place = placeOf(spoke, hub);
  if (place === undefined) {
    const others = Object.keys(hub.spokePlaces).filter((id) => id !== hub.aws.accountId);
    const message =
      `spec.account.id ${account?.id} is none of the accounts that the stack names in accounts (${others.join(", ") || "there are none"}). ` +
      "Add it there and run pulumi up, which lets spokes in it read their sealing keys, and make what the account needs with the stack in " +
      "infra/account (docs/guides/aws-account.md#accounts-and-regions); or remove this Spoke and add it again without spec.account";
    return [{ reason: "AccountNotAllowed", message }];
  }
  const { regions, scopes } = place;
  if (regions.includes(region)) return scopeProblems(spoke, scopes);
  const key = isElsewhere(spoke, hub)
    ? `accounts, and regions of the stack in infra/account for ${account?.id}`
    : "spokeRegions";
  const message =
    `spec.region ${region} is none of the regions to which the fleet's IAM policies are limited in this account: ${regions.join(", ")}. ` +
    `Add it to ${key}, and run pulumi up; or remove this Spoke and add it again in one of these`;
  return [{ reason: "RegionNotAllowed", message }];
}
