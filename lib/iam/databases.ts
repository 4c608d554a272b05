import { createHash } from "node:crypto";
import { arns, dnsSuffix, inCallersAccount, perRegion, principalTag, type Scope, type Statement } from "./policy.ts";

/** RDS databases that applications order: their names, and what the Crossplane of a spoke may do with them. */

/** The add-on of a Spoke whose applications order databases. */
export const databasesAddon = "rds_instances";

/**
 * Tag of the role of a spoke's own Crossplane: the digest of its cluster in the names that it may use in RDS ({@link databasePrefix}). The
 * fleet's boundary reads it; a role without it reaches nothing there.
 */
export const databaseTag = "rds-digest";

const digest = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** The value of {@link databaseTag} for the EKS cluster `cluster`. */
export const databaseDigest = (cluster: string): string => digest(cluster, 10);

/** Beginning of the names in RDS of what belongs to the spokes of one fleet; `spokePrefix` begins the names of their clusters. */
const fleetPrefix = (spokePrefix: string): string => `d${digest(spokePrefix, 8)}`;

/**
 * Beginning of the names in RDS of what belongs to the EKS cluster `cluster`. They have lower-case letters, digits and single hyphens only
 * and 63 characters at most (RDS User Guide, "Quotas and constraints for Amazon RDS"), so no separator ends the name of a cluster:
 * fleet-spoke-dev with `2-x` would be fleet-spoke-dev-2 with `x`. Digests of fixed length are no beginnings of each other.
 */
export const databasePrefix = (spokePrefix: string, cluster: string): string =>
  `${fleetPrefix(spokePrefix)}${databaseDigest(cluster)}`;

/**
 * The database `name` of the application in `namespace`: `<prefix>-<namespace>-<name>`. A name has no hyphen, so the last one ends the
 * namespace. @param prefix what {@link databasePrefix} gives
 */
export const databaseName = (prefix: string, namespace: string, name: string): string =>
  `${prefix}-${namespace}-${name}`;

/** The group of the cluster's private subnets, in which its databases are. */
export const databaseSubnets = (prefix: string): string => `${prefix}-subnets`;

/** What the bridge tells of a cluster's databases. */
export interface DatabaseFacts {
  readonly prefix: string;
  /** The security group that they join: the cluster's own. */
  readonly securityGroupId: string;
  readonly subnetIds: readonly string[];
}

/** A cluster whose applications order none. */
export const noDatabases: DatabaseFacts = { prefix: "", securityGroupId: "", subnetIds: [] };

/** Whether a namespace with this name can have databases: RDS takes no two hyphens in a row. */
export const canHaveDatabases = (namespace: string): boolean => !namespace.includes("--");

/** The service-linked role that RDS makes with the caller's rights when an account has none (RDS User Guide, "Using service-linked roles"). */
export const databaseService = "rds.amazonaws.com";

/** The key by which RDS encrypts what names no other, and the service through which alone it is used. */
export const databaseKey = {
  alias: "alias/aws/rds",
  service: "rds",
  services: (scope: Scope) => perRegion(scope, (region) => `rds.${region}.${dnsSuffix(scope.partition)}`),
} as const;

/** What creations and changes of a database name besides: the groups of parameters (pg) and of options (og) that RDS has for each engine. */
const defaultGroups = "arn:*:rds:*:*:?g:default*";

/** Databases that a spoke's Crossplane may manage. */
export interface Databases {
  /** Beginning of their names ({@link databasePrefix}). */
  readonly prefix: string;
  /** Whether the add-on was turned off: what is left is the right to remove the group of the subnets. */
  readonly removal: boolean;
}

/** Sid of the statement about the group of the subnets. */
export const subnetsSid = "SubnetsOfDatabases";

/**
 * The whole life of the databases under the prefix and of the group of their subnets, with final snapshots; no restore from snapshots or other
 * databases, no parameter groups, and no right to share a snapshot. Of all databases it reads the descriptions: the provider looks for
 * them by an ID that AWS assigns (terraform-provider-aws, internal/service/rds/instance.go, findDBInstanceByID).
 */
export function databaseStatements(scope: Scope, { prefix, removal }: Databases): Statement[] {
  const { database, kmsKey, serviceLinkedRole } = arns(scope);
  const databases = database(`db:${prefix}-*`);
  const made = ["AddTagsToResource", "CreateDBSubnetGroup", "ModifyDBSubnetGroup", "RemoveTagsFromResource"];
  const left = ["DeleteDBSubnetGroup", "DescribeDBSubnetGroups", "ListTagsForResource"];
  const subnets: Statement = {
    Sid: subnetsSid,
    Effect: "Allow",
    Action: [...(removal ? [] : made), ...left].map((call) => `rds:${call}`),
    Resource: [database(`subgrp:${databaseSubnets(prefix)}`)],
  };
  if (removal) return [subnets];
  return [
    subnets,
    {
      Sid: "Databases",
      Effect: "Allow",
      Action: ["rds:CreateDBInstance", "rds:ModifyDBInstance"],
      Resource: [databases, database(`subgrp:${databaseSubnets(prefix)}`), defaultGroups],
    },
    {
      Sid: "EndsOfDatabases",
      Effect: "Allow",
      Action: [
        "rds:AddTagsToResource",
        "rds:CreateDBSnapshot",
        "rds:DeleteDBInstance",
        "rds:ListTagsForResource",
        "rds:RebootDBInstance",
        "rds:RemoveTagsFromResource",
      ],
      Resource: [databases, database(`snapshot:${prefix}-*`)],
    },
    {
      Sid: "FindDatabases",
      Effect: "Allow",
      Action: ["rds:DescribeDBInstances"],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
    },
    {
      // Networks, which RDS looks at with the caller's rights.
      Sid: "LookUp",
      Effect: "Allow",
      Action: [
        "ec2:DescribeAccountAttributes",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcAttribute",
        "ec2:DescribeVpcs",
      ],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": perRegion(scope) } },
    },
    {
      Sid: "DatabaseKey",
      Effect: "Allow",
      Action: ["kms:CreateGrant", "kms:DescribeKey"],
      Resource: [kmsKey("*")],
      Condition: {
        StringEquals: { "kms:ViaService": databaseKey.services(scope) },
        "ForAnyValue:StringEquals": { "kms:ResourceAliases": databaseKey.alias },
      },
    },
    {
      Sid: "ServiceLinkedRole",
      Effect: "Allow",
      Action: ["iam:CreateServiceLinkedRole"],
      Resource: [serviceLinkedRole(`${databaseService}/*`)],
      Condition: { StringEquals: { "iam:AWSServiceName": databaseService } },
    },
  ];
}

/**
 * What the fleet's boundary leaves of it: what is called after the fleet and the {@link databaseTag} of the caller's role. Descriptions, the key and the service-linked
 * role stand in statements of the boundary that others share.
 */
export const boundaryOfDatabases = (scope: Scope, spokePrefix: string): Statement => ({
  Sid: "Databases",
  Effect: "Allow",
  Action: ["rds:*DBInstance", "rds:*DBSubnetGroup*", "rds:*Tags*", "rds:CreateDBSnapshot"],
  Resource: [
    arns(inCallersAccount(scope)).database(`*:${fleetPrefix(spokePrefix)}${principalTag(databaseTag)}-*`),
    defaultGroups,
  ],
});
