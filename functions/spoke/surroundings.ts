import { inAccount, type Scope } from "../../lib/iam/policy.ts";
import { spokeNames } from "../../lib/spoke.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";

/** What follows from a Spoke and its hub alone, before anything of it exists. */
export interface Surroundings {
  readonly names: ReturnType<typeof spokeNames>;
  /** Account, region and partition of the spoke. */
  readonly scope: Scope;
  /** Boundary of every role of the spoke, in its account. */
  readonly permissionsBoundary: string;
  readonly tenantBoundary: string;
  /** Boundary of the roles of add-ons, empty while the hub permits them nothing. */
  readonly addonBoundary: string;
}

export function surroundingsOf({ spec, metadata }: Spoke, hub: Hub): Surroundings {
  const accountId = spec.account?.id ?? hub.aws.accountId;
  return {
    names: spokeNames(hub.spokePrefix, metadata.name),
    scope: { partition: hub.aws.partition, accountId, region: spec.region },
    permissionsBoundary: inAccount(hub.permissionsBoundaryArn, accountId),
    tenantBoundary: inAccount(hub.tenantBoundaryArn, accountId),
    addonBoundary: inAccount(hub.addonBoundaryArn, accountId),
  };
}
