import type { Composer } from "./composer.ts";
import type { Observed } from "./observed.ts";
import { isLeft, isManaged, outlives } from "./orphan.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";

/**
 * A cluster that another Spoke made: AWS finds it, its roles and its logs by their names, so that they would come under the management of
 * any Spoke of that name, and go with it. That it is in another VPC than the Spoke's tells it.
 */

const vpcs = (observed: Observed) => ({
  own: observed.text(resources.vpc, "id"),
  ofCluster: observed.text(resources.cluster, "vpcConfig", "vpcId"),
});

export function isForeign(observed: Observed): boolean {
  const { own, ofCluster } = vpcs(observed);
  return own !== undefined && ofCluster !== undefined && own !== ofCluster;
}

export function foreignProblem(observed: Observed, spoke: string, cluster: string): SpokeProblem[] {
  if (!isForeign(observed)) return [];
  const { own, ofCluster } = vpcs(observed);
  const message =
    `an EKS cluster ${cluster} exists in ${ofCluster}, and the VPC of this Spoke is ${own}: it was made for another Spoke of this name, so nothing ` +
    `more is made, and nothing is deleted with this one. Let this Spoke go (fleet release ${spoke}), delete ${own} and what is in it, then take the ` +
    "cluster in with its folder and fleet adopt in one push (docs/guides/lost-hub.md)";
  return [{ reason: "ClusterExists", message }];
}

/** Whether Crossplane was told of everything that exists to leave it in AWS; before that nothing of a Spoke that leaves it may go. */
export const isToldToLeave = ({ entries }: Composer, observed: Observed): boolean =>
  [...entries].every(([key, { group }]) => {
    const object = observed.objects.get(key);
    return object === undefined || !outlives(group) || !isManaged(object) || isLeft(object);
  });
