import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { addonConflicts, nodeTemplate, nodeTrust } from "../lib/eks-baseline.ts";
import { managedPolicies } from "../lib/iam/deployer.ts";
import type { Tags } from "../lib/labels.ts";
import { clusterNames } from "../lib/names.ts";
import { nodeGroupName as digestedName } from "../lib/node-groups.ts";
import type { HubCluster } from "./hub-cluster.ts";
import type { PodIdentityArgs } from "./irsa-role.ts";
import { ServiceRole } from "./service-role.ts";

export interface HubNodesArgs {
  /** The cluster that the nodes join. Their Kubernetes version is its own. */
  readonly cluster: HubCluster;
  /**
   * Name of the launch template, and the beginning of the node group's.
   * @default `<name of the EKS cluster>-nodes`
   */
  readonly nodeGroupName?: string;
  /**
   * Subnets with a route to AWS, Git and the chart repositories.
   * @default the `nodeSubnetIds` of the cluster's network
   */
  readonly subnetIds?: pulumi.Input<pulumi.Input<string>[]>;
  /**
   * EC2 instance types, in order of preference.
   * @default ["m6i.large"]
   */
  readonly instanceTypes?: readonly string[];
  /**
   * ON_DEMAND or SPOT.
   * @default "ON_DEMAND"
   */
  readonly capacityType?: "ON_DEMAND" | "SPOT";
  /**
   * An Amazon Linux 2023 AMI type that fits the instance types: AL2023_x86_64_STANDARD or AL2023_ARM_64_STANDARD.
   * @default "AL2023_x86_64_STANDARD"
   */
  readonly amiType?: string;
  /**
   * Release of the nodes' AMI, of the cluster's Kubernetes version. A change replaces the nodes, one after another.
   * @default the newest one when the group is made; later ones are not taken automatically
   * @example "1.35.2-20261101"
   */
  readonly releaseVersion?: string;
  /**
   * Root volume in GiB, encrypted gp3.
   * @default 50
   */
  readonly diskSize?: number;
  /**
   * ARN of a KMS key that encrypts the root volumes. Its policy must let AWSServiceRoleForAutoScaling use it and create grants, which starts
   * the instances. A change replaces the nodes, one after another.
   * @default the account's default key for EBS
   * @example "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
   */
  readonly volumeKey?: string | undefined;
  /**
   * Minimum number of nodes.
   * @default 2
   */
  readonly min?: number;
  /**
   * Number of nodes with which a new group begins, between `min` and `max`. Afterwards an autoscaler may change it, and a change here has
   * no effect.
   * @default `min`
   */
  readonly desired?: number;
  /**
   * Maximum number of nodes.
   * @default 4
   */
  readonly max?: number;
  /**
   * Labels of the nodes in Kubernetes.
   * @default none but EKS's own
   */
  readonly labels?: Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * Taints of the nodes. CoreDNS tolerates none of your own, so leave it nodes without them, in another group.
   * @default none
   * @example [{ key: "dedicated", value: "gpu", effect: "NO_SCHEDULE" }]
   */
  readonly taints?: readonly aws.types.input.eks.NodeGroupTaint[];
  /**
   * Whether the nodes have the EKS Pod Identity Agent, by which pods get IAM roles in the place of IRSA.
   * @default false
   */
  readonly podIdentityAgent?: boolean;
  /**
   * Whether Session Manager of AWS Systems Manager opens shells on the nodes: their role gets AmazonSSMManagedInstanceCore. Who may start one,
   * IAM decides.
   * @default false
   */
  readonly sessionManager?: boolean;
  /**
   * Path of the nodes' role in IAM.
   * @default "/"
   */
  readonly rolePath?: string | undefined;
  /**
   * ARN of a policy that is the permissions boundary of the nodes' role.
   * @default none
   */
  readonly permissionsBoundary?: pulumi.Input<string> | undefined;
  /**
   * Tags of role, launch template, instances, network interfaces, volumes, node group and add-ons.
   * @default those of the AWS provider (`aws:defaultTags`), which instances, network interfaces and volumes don't get: they have a `Name` only
   */
  readonly tags?: Tags | undefined;
}

/**
 * The hub's managed node group, and the add-ons that need nodes to start: CoreDNS, and by choice the EKS Pod Identity Agent. A cluster can have one of these; further node
 * groups are `eks.ManagedNodeGroup`s with the same role.
 * @example
 * const nodes = new HubNodes("hub-nodes", { cluster, instanceTypes: ["m7g.large"], amiType: "AL2023_ARM_64_STANDARD" });
 * // A further policy of the nodes.
 * const policyArn = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy";
 * new aws.iam.RolePolicyAttachment("hub-nodes-cloudwatch", { role: nodes.role.name, policyArn });
 * @example
 * // A second node group.
 * const { nodeSubnetIds: subnetIds } = cluster.network;
 * new eks.ManagedNodeGroup("gpu", { cluster: cluster.cluster, nodeRoleArn: nodes.roleArn, subnetIds, instanceTypes: ["g6.xlarge"] });
 */
export class HubNodes extends pulumi.ComponentResource {
  /** Role of the nodes, to attach further policies to. */
  readonly role: aws.iam.Role;
  /** ARN of the role; known once the policies that nodes need are attached, so further node groups can use it at once. */
  readonly roleArn: pulumi.Output<string>;
  /** Name of the node group; known when its nodes are ready. */
  readonly nodeGroupName: pulumi.Output<string>;
  /** What an `IrsaRole` takes to give pods its role by EKS Pod Identity; undefined without the agent. */
  readonly podIdentity: PodIdentityArgs | undefined;

  constructor(name: string, args: HubNodesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HubNodes", name, {}, opts);
    const { cluster, tags, diskSize = 50, min = 2, desired = min, max = 4 } = args;
    const names = clusterNames(cluster.clusterName);
    const { nodeGroupName = names.nodeGroup, subnetIds = cluster.network.nodeSubnetIds } = args;
    const { instanceTypes = ["m6i.large"], capacityType = "ON_DEMAND", amiType = "AL2023_x86_64_STANDARD" } = args;
    const { role, arn: roleArn } = new ServiceRole(
      `${name}-node`,
      {
        roleName: names.nodeRole,
        description: `Nodes of ${nodeGroupName}`,
        trust: nodeTrust,
        managedPolicies: [...managedPolicies.node, ...(args.sessionManager ? managedPolicies.sessions : [])],
        rolePath: args.rolePath,
        permissionsBoundary: args.permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    const template = new aws.ec2.LaunchTemplate(
      `${name}-template`,
      {
        name: nodeGroupName,
        ...nodeTemplate(diskSize, args.volumeKey),
        tagSpecifications: ["instance", "network-interface", "volume"].map((resourceType) => ({
          resourceType,
          tags: { ...tags, Name: nodeGroupName },
        })),
        tags,
      },
      { parent: this },
    );
    const group = new eks.ManagedNodeGroup(
      `${name}-group`,
      {
        cluster: cluster.cluster,
        // Other values of what EKS can't change make another group: Pulumi makes it first, and EKS then drains the former one.
        nodeGroupName: pulumi
          .output(subnetIds)
          .apply((subnets) =>
            digestedName(nodeGroupName, { instanceTypes, capacityType, amiType, subnetIds: subnets }),
          ),
        nodeRoleArn: roleArn,
        subnetIds,
        instanceTypes: [...instanceTypes],
        capacityType,
        amiType,
        version: cluster.version,
        ...(args.releaseVersion ? { releaseVersion: args.releaseVersion } : {}),
        // `desired` counts when the group is made; from then on an autoscaler may change it.
        ignoreScalingChanges: true,
        scalingConfig: { minSize: min, desiredSize: desired, maxSize: max },
        ...(args.labels && { labels: { ...args.labels } }),
        ...(args.taints && { taints: [...args.taints] }),
        launchTemplate: { id: template.id, version: template.latestVersion.apply(String) },
        ...(tags && { tags: { ...tags } }),
      },
      { parent: this },
    );
    const addon = (suffix: string, addonName: string) =>
      new aws.eks.Addon(
        `${name}-${suffix}`,
        {
          clusterName: cluster.name,
          addonName,
          addonVersion: cluster.addonVersion(addonName),
          ...addonConflicts,
          tags,
        },
        { parent: this, dependsOn: [group] },
      );
    addon("coredns", "coredns");
    this.podIdentity = args.podIdentityAgent
      ? { clusterName: addon("pod-identity-agent", "eks-pod-identity-agent").clusterName, clusterArn: cluster.arn }
      : undefined;
    this.role = role;
    this.roleArn = roleArn;
    this.nodeGroupName = group.nodeGroup.apply((made) => made.nodeGroupName);
    this.registerOutputs({ roleArn, nodeGroupName: this.nodeGroupName });
  }
}
