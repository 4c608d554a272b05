import { fleetNames } from "../names.ts";
import { type AddonPermission, addonBoundary } from "./addons.ts";
import { autoModeBoundary } from "./auto-mode.ts";
import { type SecretsElsewhere, spokeBoundary } from "./boundary.ts";
import { clusterApiBoundary } from "./cluster-api-boundary.ts";
import { arns, type DenyAllBut, type PolicyDocument, type Scope, type Statement } from "./policy.ts";
import { tenantBoundary } from "./tenants.ts";

/** A statement of a company's permissions boundary. An Allow would widen the boundaries of the fleet. */
export type Denial = (Omit<Statement, "Effect" | "NotAction"> & { readonly Effect: "Deny" }) | DenyAllBut;

/** A role has one boundary, so a boundary of the fleet has the company's statements too. */
export const withDenials = (document: PolicyDocument, denials: readonly Denial[]): PolicyDocument => ({
  ...document,
  Statement: [...document.Statement, ...denials],
});

/** An account with spokes, and what decides on its boundaries. */
export interface BoundaryPlace {
  readonly fleet: string;
  readonly scope: Scope;
  /** Where the fleet's secrets are, in an account that is not the hub's. */
  readonly secretsOf?: SecretsElsewhere;
  readonly addonPermissions: readonly AddonPermission[];
  /** Keys of a company that volumes may have. @default none */
  readonly volumeKeys?: readonly string[];
}

/** Every boundary of the fleet in an account, by the name of its policy. */
export function boundaryDocuments(place: BoundaryPlace): Readonly<Record<string, PolicyDocument>> {
  const { fleet, secretsOf, addonPermissions, volumeKeys = [] } = place;
  const scope = { ...place.scope, fleet, volumeKeys };
  const names = fleetNames(fleet);
  const tenantBoundaryArn = arns(scope).policy(names.tenantBoundaryPolicy);
  return {
    [names.boundaryPolicy]: spokeBoundary({ ...scope, tenantBoundaryArn, ...(secretsOf && { secretsOf }) }),
    [names.tenantBoundaryPolicy]: tenantBoundary(scope),
    [names.addonBoundaryPolicy]: addonBoundary(scope, addonPermissions),
    [names.autoModeBoundaryPolicy]: autoModeBoundary({ ...scope, spokePrefix: names.spokePrefix }),
    [names.clusterApiBoundaryPolicy]: clusterApiBoundary(scope),
  };
}
