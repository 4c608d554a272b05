import * as pulumi from "@pulumi/pulumi";
import type { FleetBoundary, FleetBoundaryArgs } from "../components/fleet-boundary.ts";
import { type AddonPermission, addonBoundary } from "../lib/iam/addons.ts";
import { autoModeBoundary } from "../lib/iam/auto-mode.ts";
import { type SecretsElsewhere, spokeBoundary } from "../lib/iam/boundary.ts";
import { clusterApiBoundary } from "../lib/iam/cluster-api-boundary.ts";
import { type Denial, withDenials } from "../lib/iam/company-denials.ts";
import type { PolicyDocument, Scope } from "../lib/iam/policy.ts";
import { tenantBoundary } from "../lib/iam/tenants.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";

/** An account with spokes: the hub's, or another (infra/account). */
export interface BoundarySource {
  readonly fleet: string;
  readonly scope: pulumi.Output<Scope>;
  /** Where the fleet's secrets are, in an account that is not the hub's. */
  readonly secretsOf?: SecretsElsewhere;
  /** Keys of a company that volumes may have. */
  readonly volumeKeys: readonly string[];
  readonly tags: Tags;
  /** The company's statements, which every boundary has too. */
  readonly denials: readonly Denial[];
}

const boundaryArgs = (
  { tags, denials }: BoundarySource,
  args: Pick<FleetBoundaryArgs, "policyName" | "description"> & { readonly document: pulumi.Output<PolicyDocument> },
): FleetBoundaryArgs => ({
  ...args,
  document: args.document.apply((document) => withDenials(document, denials)),
  tags,
});

/** The boundary of the roles that Crossplane on the hub makes; it names that of the roles on spokes. */
export function fleetBoundaryArgs(source: BoundarySource, tenants: FleetBoundary): FleetBoundaryArgs {
  const { fleet, scope, secretsOf, volumeKeys } = source;
  return boundaryArgs(source, {
    policyName: fleetNames(fleet).boundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes",
    document: pulumi
      .all([scope, tenants.arn])
      .apply(([place, tenantBoundaryArn]) =>
        spokeBoundary({ ...place, fleet, tenantBoundaryArn, volumeKeys, ...(secretsOf && { secretsOf }) }),
      ),
  });
}

/** The boundary of the roles that applications order on spokes. */
export const tenantBoundaryArgs = (source: BoundarySource): FleetBoundaryArgs =>
  boundaryArgs(source, {
    policyName: fleetNames(source.fleet).tenantBoundaryPolicy,
    description: "Permissions boundary of every role that an application orders on a spoke",
    document: source.scope.apply(tenantBoundary),
  });

/** The boundary of the roles of control planes with EKS Auto Mode, which does in EC2 what no other role of a spoke does. */
export function autoModeBoundaryArgs(source: BoundarySource): FleetBoundaryArgs {
  const { fleet, scope, volumeKeys } = source;
  const { autoModeBoundaryPolicy, spokePrefix } = fleetNames(fleet);
  return boundaryArgs(source, {
    policyName: autoModeBoundaryPolicy,
    description: "Permissions boundary of the role of every control plane with EKS Auto Mode",
    document: scope.apply((place) => autoModeBoundary({ ...place, fleet, spokePrefix, volumeKeys })),
  });
}

/** The boundary of the roles that add-ons of spokes get. */
export function addonBoundaryArgs(
  source: BoundarySource,
  permissions: pulumi.Input<readonly AddonPermission[]>,
): FleetBoundaryArgs {
  const { fleet, scope, volumeKeys } = source;
  return boundaryArgs(source, {
    policyName: fleetNames(fleet).addonBoundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes for an add-on",
    document: pulumi
      .all([scope, permissions])
      .apply(([place, permitted]) =>
        addonBoundary({ ...place, fleet, volumeKeys }, permitted as readonly AddonPermission[]),
      ),
  });
}

/** The boundary of the roles that Cluster API makes. */
export function clusterApiBoundaryArgs(source: BoundarySource): FleetBoundaryArgs {
  const { fleet, scope } = source;
  return boundaryArgs(source, {
    policyName: fleetNames(fleet).clusterApiBoundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Cluster API makes",
    document: scope.apply((place) => clusterApiBoundary({ ...place, fleet })),
  });
}
