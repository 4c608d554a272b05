import { clusterTag, fleetTag } from "../../lib/labels.ts";
import { hubName } from "../../lib/names.ts";

export type Tags = ReadonlyMap<string, string>;

/** What is looked for: by tags or by names, as each kind has them; keys by their descriptions too. */
export interface Scope {
  readonly tags: (tags: Tags) => boolean;
  /** Whether `name` begins with what all names of this scope begin with. */
  readonly name: (name: string) => boolean;
}

/**
 * The EKS cluster that something was made for, by EKS itself, the VPC CNI and controllers on the cluster: none of these sets a tag of ours.
 * (EKS User Guide; amazon-vpc-cni-k8s, `pkg/awsutils`; Kubernetes' cloud provider.)
 */
function clusterOf(tags: Tags): string | undefined {
  const owned = [...tags.keys()].find((key) => key.startsWith("kubernetes.io/cluster/"));
  const names = ["aws:eks:cluster-name", "eks:cluster-name", "cluster.k8s.amazonaws.com/name"];
  return names.map((name) => tags.get(name)).find((name) => name !== undefined) ?? owned?.split("/").at(-1);
}

export const fleetScope = (fleet: string): Scope => ({
  tags: (tags) => tags.get(fleetTag) === fleet || clusterOf(tags)?.startsWith(`${fleet}-`) === true,
  name: (name) => new RegExp(`^(alias/|/aws/eks/)?${fleet}[-/]`).test(name),
});

/** The hub, with what the whole fleet shares. */
export function hubScope(fleet: string): Scope {
  const { name } = fleetScope(fleet);
  return {
    tags: (tags) => tags.get(clusterTag) === hubName && tags.get(fleetTag) === fleet,
    name: (its) => name(its) && !its.includes(`${fleet}-spoke-`),
  };
}

/** One spoke alone, with what its applications ordered. Names that begin with `<spoke>-` count too. */
export function spokeScope(fleet: string, spoke: string): Scope {
  const cluster = `${fleet}-spoke-${spoke}`;
  return {
    tags: (tags) =>
      (tags.get(clusterTag) === spoke && (tags.get(fleetTag) ?? fleet) === fleet) || clusterOf(tags) === cluster,
    name: (name) => new RegExp(`^(alias/|/aws/eks/|Kubernetes secrets of )?${cluster}([-_/]|$)`).test(name),
  };
}
