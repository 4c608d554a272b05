import * as pulumi from "@pulumi/pulumi";
import type { FleetBoundary, FleetBoundaryArgs } from "../components/fleet-boundary.ts";
import type { MetricsWorkspace } from "../components/metrics-workspace.ts";
import { addonBoundary } from "../lib/iam/addons.ts";
import { spokeBoundary } from "../lib/iam/boundary.ts";
import { tenantBoundary } from "../lib/iam/tenants.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames } from "../lib/names.ts";
import type { AwsAccount } from "./account.ts";
import { spokeScope } from "./accounts.ts";
import { metricsPermissions } from "./metrics.ts";
import type { Settings } from "./settings.ts";

/** The boundary of the roles that Crossplane makes on the hub; it names that of the roles on spokes. */
export function fleetBoundaryArgs(
  settings: Settings,
  account: AwsAccount,
  tenants: FleetBoundary,
  tags: Tags,
): FleetBoundaryArgs {
  const { fleet } = settings;
  return {
    policyName: fleetNames(fleet).boundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes",
    document: pulumi
      .all([spokeScope(settings, account), tenants.arn])
      .apply(([scope, tenantBoundaryArn]) => spokeBoundary({ ...scope, fleet, tenantBoundaryArn })),
    tags,
  };
}

/** The boundary of the roles that applications order on spokes. */
export function tenantBoundaryArgs(settings: Settings, account: AwsAccount, tags: Tags): FleetBoundaryArgs {
  return {
    policyName: fleetNames(settings.fleet).tenantBoundaryPolicy,
    description: "Permissions boundary of every role that an application orders on a spoke",
    document: spokeScope(settings, account).apply(tenantBoundary),
    tags,
  };
}

/** The boundary of the roles that add-ons of spokes get; undefined while the stack permits them nothing. */
export function addonBoundaryArgs(
  settings: Settings,
  account: AwsAccount,
  metrics: MetricsWorkspace | undefined,
  tags: Tags,
): FleetBoundaryArgs | undefined {
  const { fleet, addonPermissions } = settings;
  if (addonPermissions.length === 0 && metrics === undefined) return undefined;
  return {
    policyName: fleetNames(fleet).addonBoundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes for an add-on",
    document: pulumi
      .all([spokeScope(settings, account), metricsPermissions(metrics)])
      .apply(([scope, ofMetrics]) => addonBoundary({ ...scope, fleet }, [...addonPermissions, ...ofMetrics])),
    tags,
  };
}
