import type { IpPermission } from "@aws-sdk/client-ec2";
import { autoModeTags, clusterTag, guardDutyTag, principalTags, type Tags } from "../../lib/labels.ts";

/** What a cluster that is gone left behind: what keeps its VPC, and data. */

/** Something in AWS. */
export interface Item {
  /** Of a load balancer or target group its ARN, of a classic load balancer its name. */
  readonly id: string;
  readonly tags: Tags;
  /** What AWS or its owner says of it. */
  readonly description: string;
}

/** `isFree`: attached to nothing; `isOfElb`: Elastic Load Balancing made it; `groups`: IDs of the security groups in which it is. */
export interface Interface extends Item {
  readonly isOfElb: boolean;
  readonly isFree: boolean;
  readonly groups: readonly string[];
}

/** A security group, with what it lets in. */
export interface Group extends Item {
  readonly rules: readonly IpPermission[];
}

export interface Balancer extends Item {
  readonly isClassic: boolean;
}

/** A target group, with the ARNs of the load balancers that use it. */
export interface TargetGroup extends Item {
  readonly balancers: readonly string[];
}

/** A VPC endpoint, with its service and the IDs of its network interfaces. */
export interface Endpoint extends Item {
  readonly service: string;
  readonly interfaces: readonly string[];
  readonly isBeingDeleted: boolean;
}

export interface InVpc {
  readonly balancers: readonly Balancer[];
  readonly targetGroups: readonly TargetGroup[];
  readonly interfaces: readonly Interface[];
  readonly endpoints: readonly Endpoint[];
  /** Without the one that every VPC has. */
  readonly groups: readonly Group[];
  /** Volumes of the region that have a tag of the cluster and are attached to nothing, and snapshots that have one. */
  readonly data: readonly Item[];
}

export interface Plan {
  /** Load balancers that controllers of the cluster left behind. */
  readonly balancers: readonly Balancer[];
  /** Their target groups. */
  readonly targetGroups: readonly TargetGroup[];
  /** Endpoints that GuardDuty created. */
  readonly endpoints: readonly Endpoint[];
  /** Interfaces that AWS removes after a load balancer or an endpoint: of one that goes now, or that is gone. */
  readonly leaving: readonly Item[];
  /** Interfaces that the VPC CNI left behind, that of EKS Auto Mode too. */
  readonly interfaces: readonly Item[];
  /** Security groups that EKS, a controller of the cluster or GuardDuty left behind. */
  readonly groups: readonly Group[];
  /** What keeps the VPC and is not known to be of the cluster, or is in use. */
  readonly others: readonly Item[];
  /** The cluster's volumes and snapshots. */
  readonly data: readonly Item[];
}

/** What {@link Plan} has removed. */
export type Removal = Omit<Plan, "others">;

/**
 * Whether EKS Auto Mode made a load balancer, target group, security group or network interface for a cluster. The cluster's name alone
 * proves nothing: people set it on target groups of their own, in which Auto Mode then registers pods.
 */
const isOfAutoMode = ({ tags }: Item, cluster: string): boolean =>
  tags[autoModeTags.cluster] === cluster &&
  Object.keys(tags).some(
    (key) => key === autoModeTags.podInterface || autoModeTags.balancing.some((prefix) => key.startsWith(`${prefix}/`)),
  );

/**
 * Whether EKS, the VPC CNI, the AWS Load Balancer Controller or Kubernetes made something for a cluster (EKS User Guide, "Security group
 * requirements"; amazon-vpc-cni-k8s, pkg/awsutils; AWS Load Balancer Controller, "Resource tags"; cloud-provider-aws, pkg/providers/v1/tags.go).
 */
const isOf = (item: Item, cluster: string): boolean =>
  item.tags[`kubernetes.io/cluster/${cluster}`] === "owned" ||
  ["aws:eks:cluster-name", "cluster.k8s.amazonaws.com/name", "elbv2.k8s.aws/cluster"].some(
    (key) => item.tags[key] === cluster,
  ) ||
  isOfAutoMode(item, cluster);

/**
 * Whether GuardDuty Runtime Monitoring created an endpoint or security group. It creates one of each in every VPC with a cluster, and keeps them
 * until Runtime Monitoring is disabled (GuardDuty User Guide, "Using Infrastructure as Code (IaC) with GuardDuty automated security agents").
 */
const isOfGuardDuty = ({ tags, ...item }: Endpoint | Group): boolean =>
  tags[guardDutyTag.key] === guardDutyTag.value &&
  ("service" in item
    ? item.service.endsWith(".guardduty-data")
    : item.description.startsWith("GuardDutyManagedSecurityGroup-"));

/** Keys by whose values the EBS CSI driver, EKS Auto Mode and the fleet name a cluster (aws-ebs-csi-driver, "Tagging" and pkg/driver/constants.go). */
const dataKeys = [
  principalTags.cluster,
  autoModeTags.cluster,
  ...["ebs.csi.aws.com/cluster-name", "KubernetesCluster"],
];

/** Keys of tags by which data of a cluster may be found. */
export const keysOfData = (cluster: string): string[] => [`kubernetes.io/cluster/${cluster}`, ...dataKeys];

/** Whether a volume or snapshot has a tag of the cluster: it was made for it, or given to it. */
export const isDataOf = (item: Item, cluster: string): boolean =>
  isOf(item, cluster) || dataKeys.some((key) => item.tags[key] === cluster);

/** Whether the EBS CSI driver made a volume or snapshot, and the fleet had it tagged, or EKS Auto Mode did: the rights go by the same tags. */
export const isMadeFor = ({ tags }: Item, cluster: string): boolean =>
  (tags["ebs.csi.aws.com/cluster"] === "true" && tags[principalTags.cluster] === cluster) ||
  (tags[autoModeTags.volume] !== undefined && tags[autoModeTags.cluster] === cluster);

/** An interface of the VPC CNI that its node had no time to delete (amazon-vpc-cni-k8s, cleanUpLeakedENIs). */
const isLeaked = (item: Item): boolean =>
  item.description.startsWith("aws-K8S-") && item.tags["node.k8s.amazonaws.com/instance_id"] !== undefined;

/** How AWS describes the interfaces of a load balancer (AWS Knowledge Center, "Find the IP addresses that ELB uses"). */
const ofBalancer = "ELB ";
const describes = ({ id }: Balancer) => `${ofBalancer}${id.split(":loadbalancer/").at(-1)}`;

/** The load balancers whose interfaces these are, but for those that are given: each as `<name> (<ID of the interface>)`. */
export function unlisted(interfaces: readonly Item[], balancers: readonly Balancer[]): string[] {
  const known = new Set(balancers.map(describes));
  return interfaces
    .filter(({ description }) => description.startsWith(ofBalancer) && !known.has(description))
    .map(({ id, description }) => `${description.slice(ofBalancer.length)} (${id})`);
}

/**
 * Decides what goes; a group stays that an interface uses which stays. What carries the spoke's own tag is Crossplane's to remove.
 * @param isShared whether others have things in the VPC too: then only what names the cluster goes, and the rest is not the fleet's to speak of
 */
export function planOf(cluster: string, spoke: string, found: InVpc, isShared = false): Plan {
  const goes = (item: Item) => isOf(item, cluster) || (!isShared && isLeaked(item));
  const balancers = found.balancers.filter((each) => isOf(each, cluster));
  const going = new Set(balancers.map(({ id }) => id));
  const keptBalancers = found.balancers.filter(({ id }) => !going.has(id));
  const ofKept = new Set(keptBalancers.map(describes));
  // Anybody may describe an interface like one of a load balancer.
  const isOfBalancer = ({ isOfElb, description }: Interface) => isOfElb && description.startsWith(ofBalancer);
  const isOfKept = (each: Interface) => isOfBalancer(each) && ofKept.has(each.description);
  // In a shared VPC GuardDuty's endpoint serves other clusters too.
  const ofGuardDuty = isShared ? [] : found.endpoints.filter(isOfGuardDuty);
  const ofEndpoints = new Set(ofGuardDuty.flatMap((each) => each.interfaces));
  const ofGoing = new Set(balancers.map(describes));
  const isLeaving = (each: Interface) =>
    ofEndpoints.has(each.id) || (isOfBalancer(each) && (isShared ? ofGoing.has(each.description) : !isOfKept(each)));
  const leaving = found.interfaces.filter(isLeaving);
  const interfaces = found.interfaces.filter((each) => each.isFree && goes(each) && !isLeaving(each));
  const staying = found.interfaces.filter((each) => !leaving.includes(each) && !interfaces.includes(each));
  const held = new Set(staying.flatMap(({ groups }) => groups));
  const isGoing = (group: Group) => isOf(group, cluster) || (!isShared && isOfGuardDuty(group));
  const isOurs = ({ tags }: Item) => tags[clusterTag] === spoke;
  const isUnused = ({ balancers: users }: TargetGroup) => users.every((id) => going.has(id));
  return {
    ...{ balancers, leaving, interfaces, data: found.data },
    endpoints: ofGuardDuty.filter(({ isBeingDeleted }) => !isBeingDeleted),
    targetGroups: found.targetGroups.filter((each) => isOf(each, cluster) && isUnused(each)),
    groups: found.groups.filter((group) => isGoing(group) && !held.has(group.id)),
    others: isShared
      ? []
      : [
          ...keptBalancers,
          ...[...staying.filter((each) => !isOfKept(each)), ...found.groups.filter((group) => !isGoing(group))].filter(
            (item) => !isOurs(item),
          ),
        ],
  };
}
