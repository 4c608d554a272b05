import { arns, inAccount, type Scope } from "../../lib/iam/policy.ts";
import { fleetNames } from "../../lib/names.ts";
import { spokeNames } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import { isMadeElsewhere } from "./made-elsewhere.ts";
import { isElsewhere } from "./places.ts";

/** What follows from a Spoke and its hub alone, before anything of it exists. */
export interface Surroundings {
  readonly names: ReturnType<typeof spokeNames>;
  /** Account, region and partition of the spoke. */
  readonly scope: Scope & Required<Pick<Scope, "rolePath">>;
  /** Boundary of every role of the spoke, in its account. */
  readonly permissionsBoundary: string;
  readonly tenantBoundary: string;
  /** Boundary of the control plane's role with EKS Auto Mode. */
  readonly autoModeBoundary: string;
  /** Boundary of the roles of add-ons: empty in the hub's account while its stack permits them nothing, never in another. */
  readonly addonBoundary: string;
}

export function surroundingsOf(spoke: Spoke, hub: Hub): Surroundings {
  const { spec, metadata } = spoke;
  const accountId = spec.account?.id ?? hub.aws.accountId;
  const { partition, rolePath } = hub.aws;
  const scope = { partition, rolePath, accountId, region: spec.region };
  return {
    names: spokeNames(hub.spokePrefix, metadata.name, isMadeElsewhere(spoke)),
    scope,
    permissionsBoundary: inAccount(hub.permissionsBoundaryArn, accountId),
    autoModeBoundary: arns(scope).policy(fleetNames(hub.fleet).autoModeBoundaryPolicy),
    tenantBoundary: inAccount(hub.tenantBoundaryArn, accountId),
    addonBoundary: isElsewhere(spoke, hub)
      ? arns(scope).policy(fleetNames(hub.fleet).addonBoundaryPolicy)
      : hub.addonBoundaryArn,
  };
}
