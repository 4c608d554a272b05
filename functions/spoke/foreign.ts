import type { Composer } from "./composer.ts";
import type { Observed } from "./observed.ts";
import { isLeft, isManaged, isOnlyObserved, outlives } from "./orphan.ts";
import type { SpokeProblem } from "./problems.ts";
import { resources } from "./resources.ts";

/**
 * A cluster that another Spoke made: AWS finds it, its roles and its logs by their names, so that they would come under the management of
 * any Spoke of that name, and go with it. That it is in another VPC than the Spoke's tells it, and in a VPC that spokes share that its secrets are
 * encrypted by another key.
 */

const vpcs = (observed: Observed) => ({
  own: observed.text(resources.vpc, "id"),
  ofCluster: observed.text(resources.cluster, "vpcConfig", "vpcId"),
});

const keys = (observed: Observed) => ({
  own: observed.text(resources.key, "arn"),
  ofCluster: observed.text(resources.cluster, "encryptionConfig", "provider", "keyArn"),
});

const differ = ({ own, ofCluster }: { readonly own: string | undefined; readonly ofCluster: string | undefined }) =>
  own !== undefined && ofCluster !== undefined && own !== ofCluster;

const isShared = (observed: Observed): boolean => {
  const vpc = observed.get(resources.vpc);
  return vpc !== undefined && isOnlyObserved(vpc);
};

export const isForeign = (observed: Observed): boolean =>
  differ(vpcs(observed)) || (isShared(observed) && differ(keys(observed)));

export function foreignProblem(observed: Observed, spoke: string, cluster: string): SpokeProblem[] {
  if (!isForeign(observed)) return [];
  if (isShared(observed)) {
    const message =
      `an EKS cluster ${cluster} exists that was made for another Spoke of this name, so nothing more is made, and nothing is deleted with this one. ` +
      `Let this Spoke go (fleet release ${spoke}), delete its key ${keys(observed).own ?? "if it has one"}, then take the cluster in with its folder and ` +
      "fleet adopt in one push (docs/guides/recovery.md#rebuild-a-lost-hub)";
    return [{ reason: "ClusterExists", message }];
  }
  const { own, ofCluster } = vpcs(observed);
  const message =
    `an EKS cluster ${cluster} exists in ${ofCluster}, and the VPC of this Spoke is ${own}: it was made for another Spoke of this name, so nothing ` +
    `more is made, and nothing is deleted with this one. Let this Spoke go (fleet release ${spoke}), delete ${own} and what is in it, then take the ` +
    "cluster in with its folder and fleet adopt in one push (docs/guides/recovery.md#rebuild-a-lost-hub)";
  return [{ reason: "ClusterExists", message }];
}

/** Whether Crossplane was told of everything that exists to leave it in AWS; before that nothing of a Spoke that leaves it may go. */
export const isToldToLeave = ({ entries }: Composer, observed: Observed): boolean =>
  [...entries].every(([key, { group }]) => {
    const object = observed.objects.get(key);
    return object === undefined || !outlives(group) || !isManaged(object) || isLeft(object);
  });
