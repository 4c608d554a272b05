import { databasesAddon } from "../../lib/iam/databases.ts";
import type { Spoke } from "./api.ts";
import { networkNotFound } from "./existing-network.ts";
import { type Absence, isAbsent } from "./failures.ts";
import type { KubeObject } from "./kube.ts";
import type { Observed } from "./observed.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";

/**
 * A cluster that Cluster API makes, scales, upgrades and removes (`spec.existing.madeBy`), under the names that the Spoke would give it. The
 * hub looks at it and changes nothing of it: what a Spoke adds are identities, access and the bootstrap chain.
 */

export const isMadeElsewhere = ({ spec }: { readonly spec: Pick<Spoke["spec"], "existing"> }): boolean =>
  spec.existing?.madeBy !== undefined;

const notMadeYet: Absence = {
  reason: "NotMadeYet",
  remedy:
    "Cluster API makes it: kubectl -n cluster-api-clusters get clusters,awsmanagedcontrolplanes,awsmanagedmachinepools shows how far it is, kubectl describe why it is not further",
};

const clusterGone: Absence = {
  reason: "ClusterGone",
  remedy:
    "AWS has it no more: kubectl -n cluster-api-clusters get clusters shows whether Cluster API removed it. If so, and it is not to come back, remove the folder of the Spoke",
};

/**
 * What it means that AWS has not what the Spoke only looks at: not made yet, or no more. While its cluster is there, Cluster API makes what
 * is missing of it. Undefined for a Spoke that makes everything itself.
 * @param cluster the Spoke's Cluster of Crossplane
 */
export function absenceOf(spoke: Pick<Spoke, "spec" | "status">, cluster: KubeObject | undefined): Absence | undefined {
  if (spoke.spec.network.existing !== undefined) return networkNotFound;
  if (!isMadeElsewhere(spoke)) return undefined;
  const wasThere = spoke.status?.cluster?.endpoint !== undefined;
  return wasThere && cluster !== undefined && isAbsent(cluster) ? clusterGone : notMadeYet;
}

/** Add-ons that need what only the Composition makes: subnets that the hub knows, or that carry Karpenter's tag. */
const ofOwnNetwork: readonly string[] = [databasesAddon, "karpenter", "karpenter_nodes"];

/** What a Spoke asks of a cluster that is made elsewhere and can't have. */
export function madeElsewhereProblems(spoke: Pick<Spoke, "spec">, observed: Observed): SpokeProblem[] {
  if (!isMadeElsewhere(spoke)) return [];
  const refused = spoke.spec.addons.filter((addon) => ofOwnNetwork.includes(addon));
  const addons = {
    reason: "AddonsNotPermitted",
    message:
      `spec.addons ${refused.join(", ")} need the subnets of a network that the hub makes, and Cluster API makes this one: ` +
      "take them out of spec.addons",
  };
  const { cidr } = spoke.spec.network;
  const made = observed.text(resources.vpc, "cidrBlock");
  const network = {
    reason: "NetworkDiffers",
    message:
      `the VPC of the cluster has the network ${made}, and spec.network.cidr says ${cidr}, which the hub has claimed for it: neither can be ` +
      "changed, so remove this Spoke, then its cluster, and add both again with one network",
  };
  return [...(refused.length > 0 ? [addons] : []), ...(made !== undefined && made !== cidr ? [network] : [])];
}
