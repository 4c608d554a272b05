import {
  type DatabaseFacts,
  type Databases,
  databasesAddon,
  databaseTag,
  noDatabases,
  subnetsSid,
} from "../../lib/iam/databases.ts";
import type { Tags } from "../../lib/labels.ts";
import type { Context } from "./context.ts";
import { type Fact, fact } from "./facts.ts";
import { at } from "./kube.ts";
import { subnetIds } from "./parts/network.ts";
import { resources } from "./resources.ts";

/**
 * RDS databases for the applications of a spoke: the add-on brings their kind and the group of the spoke's subnets, the spoke's own
 * Crossplane gets the rights.
 */

const isWanted = ({ spoke }: Pick<Context, "spoke">): boolean => spoke.spec.addons.includes(databasesAddon);

/** Whether the policy of the spoke's Crossplane speaks of databases: the add-on is on, or was. */
function had({ observed }: Pick<Context, "observed">): boolean {
  const policy = at(observed.get(resources.rolePolicy("crossplane"))?.spec, "forProvider", "policy");
  return typeof policy === "string" && policy.includes(`"${subnetsSid}"`);
}

/** The databases that the spoke's Crossplane may manage. After the add-on it keeps the right to remove what the add-on made. */
export function databasesOf(context: Pick<Context, "spoke" | "names" | "observed">): Databases | undefined {
  const { names } = context;
  if (isWanted(context)) return { prefix: names.databases, removal: false };
  return had(context) ? { prefix: names.databases, removal: true } : undefined;
}

/** The tag by which the boundary knows the databases of the role of the spoke's Crossplane. */
export const databaseTags = (context: Pick<Context, "spoke" | "names" | "observed">): Tags =>
  databasesOf(context) === undefined ? {} : { [databaseTag]: context.names.databaseDigest };

/**
 * What the bridge tells of databases; known once the cluster is there. It goes on telling after the add-on, because Flux applies what it
 * has with other facts before it removes it.
 */
export function databaseFacts(context: Context): Fact<DatabaseFacts> {
  if (databasesOf(context) === undefined) return fact("network", noDatabases);
  const group = context.facts.text(resources.cluster, "vpcConfig", "clusterSecurityGroupId");
  const subnets = subnetIds(context, "private");
  if (group.value === undefined) return { ...group, value: undefined };
  if (subnets.value === undefined) return { ...subnets, value: undefined };
  return fact("network", {
    prefix: context.names.databases,
    securityGroupId: group.value,
    subnetIds: subnets.value,
  });
}
