import * as pulumi from "@pulumi/pulumi";
import { FleetBoundary } from "../../components/fleet-boundary.ts";
import { ServiceRole } from "../../components/service-role.ts";
import { userError } from "../../components/user-error.ts";
import { crossplanePolicies } from "../../lib/iam/crossplane.ts";
import { arns, type Scope } from "../../lib/iam/policy.ts";
import { roleTrust } from "../../lib/iam/trust.ts";
import { fleetTag } from "../../lib/labels.ts";
import { crossplaneParts, crossplaneServices, fleetNames } from "../../lib/names.ts";
import { awsAccount } from "../account.ts";
import {
  addonBoundaryArgs,
  autoModeBoundaryArgs,
  type BoundarySource,
  fleetBoundaryArgs,
  tenantBoundaryArgs,
} from "../boundaries.ts";
import { ofEveryRole } from "../hub.ts";
import { accountProblem, hubOf } from "./places.ts";
import { loadAccountSettings } from "./settings.ts";

/** What an account besides the hub's needs for spokes of a fleet: docs/guides/aws-account.md#accounts-and-regions. */

const settings = loadAccountSettings();
const { fleet } = settings;
const names = fleetNames(fleet);
const hub = hubOf(settings.secretsKeyArn);
const tags = { ...settings.tags, [fleetTag]: fleet };

const place = pulumi.output(awsAccount(settings)).apply(({ accountId, partition, dnsSuffix, rolePath }) => {
  const problem = accountProblem({ accountId, partition }, hub.keyArn);
  if (problem !== undefined) throw userError(problem);
  const [region = hub.region, ...otherRegions] = settings.regions;
  return { accountId, partition, dnsSuffix, rolePath, region, otherRegions };
});
const source: BoundarySource = {
  ...{ fleet, tags, secretsOf: hub, volumeKeys: settings.volumeKeys, denials: settings.boundaryStatements },
  scope: place.apply(({ dnsSuffix: _, ...scope }): Scope => scope),
};

// The boundaries of the roles that Crossplane makes for spokes and on them, under the names that they have in the hub's account.
const tenants = new FleetBoundary("tenant-boundary", tenantBoundaryArgs(source));
const boundary = new FleetBoundary("fleet-boundary", fleetBoundaryArgs(source, tenants));
const autoMode = new FleetBoundary("auto-mode-boundary", autoModeBoundaryArgs(source));
const addons = new FleetBoundary("addon-boundary", addonBoundaryArgs(source, settings.addonPermissions));

const policies = pulumi
  .all([place, boundary.arn])
  .apply(([scope, boundaryArn]) =>
    crossplanePolicies({ ...scope, fleet, spokePrefix: names.spokePrefix, boundaryArn }),
  );

// The role as which the providers of the hub's Crossplane act here, and no others.
const crossplane = new ServiceRole("crossplane", {
  roleName: names.crossplaneRole,
  description: "Crossplane on the hub makes the clusters of the fleet here",
  trust: place.apply(({ partition, rolePath }) => {
    const ofHub = { partition, rolePath, ...hub };
    const providers = crossplaneServices.map((service) => names.identityRole(`crossplane-${service}`));
    return roleTrust(ofHub, providers.map(arns(ofHub).role));
  }),
  policy: policies.clusters,
  furtherPolicies: Object.fromEntries(crossplaneParts.map((part) => [part, policies[part]])),
  ...ofEveryRole(settings),
  tags,
});

/** For `roleARN` in the assumeRoleChain of the account's ClusterProviderConfig. */
export const crossplaneRoleArn = crossplane.arn;
/** The permissions boundaries of the fleet in this account. */
export const boundaryArns = [boundary.arn, tenants.arn, addons.arn, autoMode.arn];
