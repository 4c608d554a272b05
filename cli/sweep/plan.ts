import type { IpPermission } from "@aws-sdk/client-ec2";
import { clusterTag, type Tags } from "../../lib/labels.ts";

/** What keeps a VPC whose cluster is gone. */

/** A network interface, security group or volume. */
export interface Item {
  readonly id: string;
  readonly tags: Tags;
  /** What AWS or its owner says of it. */
  readonly description: string;
}

/** A security group, with what it lets in. */
export interface Group extends Item {
  readonly rules: readonly IpPermission[];
}

export interface InVpc {
  /** `isFree`: attached to nothing; `groups`: IDs of the security groups in which it is. */
  readonly interfaces: readonly (Item & { readonly isFree: boolean; readonly groups: readonly string[] })[];
  /** Without the one that every VPC has. */
  readonly groups: readonly Group[];
  /** Volumes of the region that carry the cluster's tag and are attached to nothing. */
  readonly volumes: readonly Item[];
}

export interface Plan {
  /** Interfaces that the VPC CNI left behind. */
  readonly interfaces: readonly Item[];
  /** Security groups that EKS or a controller of the cluster left behind. */
  readonly groups: readonly Group[];
  /** What keeps the VPC and is not known to be of the cluster, or is in use. */
  readonly others: readonly Item[];
  readonly volumes: readonly Item[];
}

/**
 * Whether EKS, the VPC CNI, the AWS Load Balancer Controller or Kubernetes made something for a cluster (EKS User Guide, "Security group
 * requirements"; amazon-vpc-cni-k8s, pkg/awsutils; AWS Load Balancer Controller, "Resource tags").
 */
const isOf = ({ tags }: Item, cluster: string): boolean =>
  tags[`kubernetes.io/cluster/${cluster}`] === "owned" ||
  ["aws:eks:cluster-name", "cluster.k8s.amazonaws.com/name", "elbv2.k8s.aws/cluster"].some(
    (key) => tags[key] === cluster,
  );

/** An interface of the VPC CNI that its node had no time to delete (amazon-vpc-cni-k8s, cleanUpLeakedENIs). */
const isLeaked = (item: Item): boolean =>
  item.description.startsWith("aws-K8S-") && item.tags["node.k8s.amazonaws.com/instance_id"] !== undefined;

/** Decides what goes; a group stays that an interface uses which stays. What carries the spoke's own tag is Crossplane's to remove. */
export function planOf(cluster: string, spoke: string, { interfaces, groups, volumes }: InVpc): Plan {
  const [free, used] = [interfaces.filter(({ isFree }) => isFree), interfaces.filter(({ isFree }) => !isFree)];
  const goes = (item: Item) => isOf(item, cluster) || isLeaked(item);
  const staying = [...used, ...free.filter((item) => !goes(item))];
  const held = new Set(staying.flatMap((item) => item.groups));
  const isOurs = ({ tags }: Item) => tags[clusterTag] === spoke;
  return {
    interfaces: free.filter(goes),
    groups: groups.filter((group) => isOf(group, cluster) && !held.has(group.id)),
    others: [...staying, ...groups.filter((group) => !isOf(group, cluster))].filter((item) => !isOurs(item)),
    volumes,
  };
}
