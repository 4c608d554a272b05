import * as pulumi from "@pulumi/pulumi";
import type { FleetBoundary, FleetBoundaryArgs } from "../components/fleet-boundary.ts";
import { type AddonPermission, addonBoundary } from "../lib/iam/addons.ts";
import { autoModeBoundary } from "../lib/iam/auto-mode.ts";
import { type SecretsElsewhere, spokeBoundary } from "../lib/iam/boundary.ts";
import type { crossplanePolicies } from "../lib/iam/crossplane.ts";
import type { Scope } from "../lib/iam/policy.ts";
import { tenantBoundary } from "../lib/iam/tenants.ts";
import type { Tags } from "../lib/labels.ts";
import { crossplaneParts, fleetNames } from "../lib/names.ts";

/** An account with spokes: the hub's, or another (infra/account). */
export interface BoundarySource {
  readonly fleet: string;
  readonly scope: pulumi.Output<Scope>;
  /** Where the fleet's secrets are, in an account that is not the hub's. */
  readonly secretsOf?: SecretsElsewhere;
  /** Keys of a company that volumes may have. */
  readonly volumeKeys: readonly string[];
  readonly tags: Tags;
}

/** The boundary of the roles that Crossplane on the hub makes; it names that of the roles on spokes. */
export function fleetBoundaryArgs(
  { fleet, scope, secretsOf, volumeKeys, tags }: BoundarySource,
  tenants: FleetBoundary,
): FleetBoundaryArgs {
  return {
    policyName: fleetNames(fleet).boundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes",
    document: pulumi
      .all([scope, tenants.arn])
      .apply(([place, tenantBoundaryArn]) =>
        spokeBoundary({ ...place, fleet, tenantBoundaryArn, volumeKeys, ...(secretsOf && { secretsOf }) }),
      ),
    tags,
  };
}

/** The boundary of the roles that applications order on spokes. */
export function tenantBoundaryArgs({ fleet, scope, tags }: BoundarySource): FleetBoundaryArgs {
  return {
    policyName: fleetNames(fleet).tenantBoundaryPolicy,
    description: "Permissions boundary of every role that an application orders on a spoke",
    document: scope.apply(tenantBoundary),
    tags,
  };
}

/** The boundary of the roles of control planes with EKS Auto Mode, which does in EC2 what no other role of a spoke does. */
export function autoModeBoundaryArgs({ fleet, scope, volumeKeys, tags }: BoundarySource): FleetBoundaryArgs {
  const { autoModeBoundaryPolicy, spokePrefix } = fleetNames(fleet);
  return {
    policyName: autoModeBoundaryPolicy,
    description: "Permissions boundary of the role of every control plane with EKS Auto Mode",
    document: scope.apply((place) => autoModeBoundary({ ...place, fleet, spokePrefix, volumeKeys })),
    tags,
  };
}

/** The boundary of the roles that add-ons of spokes get. */
export function addonBoundaryArgs(
  { fleet, scope, volumeKeys, tags }: BoundarySource,
  permissions: pulumi.Input<readonly AddonPermission[]>,
): FleetBoundaryArgs {
  return {
    policyName: fleetNames(fleet).addonBoundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes for an add-on",
    document: pulumi
      .all([scope, permissions])
      .apply(([place, permitted]) =>
        addonBoundary({ ...place, fleet, volumeKeys }, permitted as readonly AddonPermission[]),
      ),
    tags,
  };
}

/** What Crossplane's role of an account may do: the policy in the role, and managed policies beside it. */
export const makerRights = (policies: pulumi.Output<ReturnType<typeof crossplanePolicies>>) => ({
  policy: policies.clusters,
  furtherPolicies: Object.fromEntries(crossplaneParts.map((part) => [part, policies[part]])),
});
