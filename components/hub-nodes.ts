import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { managedPolicies } from "../lib/iam/deployer.ts";
import { serviceTrust } from "../lib/iam/trust.ts";
import { nodeGroupName as digestedName, sameFixedFields } from "../lib/node-groups.ts";
import type { HubCluster } from "./hub-cluster.ts";
import { ServiceRole } from "./service-role.ts";

export interface HubNodesArgs {
  readonly cluster: HubCluster;
  /** Name of the launch template, and the beginning of the node group's. */
  readonly nodeGroupName: string;
  readonly kubernetesVersion: string;
  /** Subnets with a way out. */
  readonly subnetIds: pulumi.Input<string>[];
  readonly instanceTypes: readonly string[];
  readonly capacityType: "ON_DEMAND" | "SPOT";
  /** An Amazon Linux 2023 AMI type that fits the instance types. */
  readonly amiType: string;
  /** Release of the AMI, of the Kubernetes version. Default (empty): the newest when the group is made, and no other by itself. */
  readonly releaseVersion: string;
  /** Root volume in GiB. */
  readonly diskSize: number;
  /** `desired` is the number of nodes that a new group begins with. */
  readonly scaling: { readonly min: number; readonly desired: number; readonly max: number };
  readonly roleName: string;
  readonly permissionsBoundary: string | undefined;
  readonly partition: pulumi.Input<string>;
  readonly tags: Readonly<Record<string, string>>;
}

/** The hub's managed node group, and CoreDNS, which is the first thing that needs nodes. */
export class HubNodes extends pulumi.ComponentResource {
  constructor(name: string, args: HubNodesArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:HubNodes", name, {}, opts);
    const { cluster, nodeGroupName, tags } = args;
    const role = new ServiceRole(
      `${name}-node`,
      {
        roleName: args.roleName,
        description: `Nodes of ${nodeGroupName}`,
        trust: serviceTrust("ec2.amazonaws.com"),
        managedPolicies: managedPolicies.node,
        partition: args.partition,
        permissionsBoundary: args.permissionsBoundary,
        tags,
      },
      { parent: this },
    );
    const template = new aws.ec2.LaunchTemplate(
      `${name}-template`,
      {
        name: nodeGroupName,
        updateDefaultVersion: true,
        blockDeviceMappings: [
          // The root device of Amazon Linux 2023.
          {
            deviceName: "/dev/xvda",
            ebs: { volumeSize: args.diskSize, volumeType: "gp3", encrypted: "true", deleteOnTermination: "true" },
          },
        ],
        // One hop: pods that don't use the host's network can't take the node's role from the metadata service.
        metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
        tagSpecifications: ["instance", "volume"].map((resourceType) => ({
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
        nodeGroupName: this.groupName(args),
        nodeRoleArn: role.arn,
        subnetIds: args.subnetIds,
        instanceTypes: [...args.instanceTypes],
        capacityType: args.capacityType,
        amiType: args.amiType,
        version: args.kubernetesVersion,
        ...(args.releaseVersion ? { releaseVersion: args.releaseVersion } : {}),
        // `desired` counts when the group is made; from then on it is an autoscaler's.
        ignoreScalingChanges: true,
        scalingConfig: { minSize: args.scaling.min, desiredSize: args.scaling.desired, maxSize: args.scaling.max },
        launchTemplate: { id: template.id, version: template.latestVersion.apply(String) },
        tags: { ...tags },
      },
      { parent: this },
    );
    new aws.eks.Addon(
      `${name}-coredns`,
      {
        clusterName: cluster.name,
        addonName: "coredns",
        addonVersion: cluster.addonVersion("coredns", args.kubernetesVersion),
        resolveConflictsOnCreate: "OVERWRITE",
        resolveConflictsOnUpdate: "OVERWRITE",
        tags,
      },
      { parent: this, dependsOn: [group] },
    );
    this.registerOutputs({});
  }

  /**
   * The name follows from the fields that EKS can't change, so another kind of nodes is another group: Pulumi makes it first, and EKS
   * drains the former. A group from before there were digests keeps its name as long as it has the wanted fields.
   */
  private groupName({ cluster, nodeGroupName, ...args }: HubNodesArgs): pulumi.Output<string> {
    const clusterName = cluster.name;
    const { names } = aws.eks.getNodeGroupsOutput({ clusterName }, { parent: this });
    const first = pulumi
      .all([names, clusterName])
      .apply(([all, cluster]) =>
        all.includes(nodeGroupName)
          ? aws.eks.getNodeGroup({ clusterName: cluster, nodeGroupName }, { parent: this })
          : undefined,
      );
    return pulumi.all([first, pulumi.all(args.subnetIds)]).apply(([existing, subnetIds]) => {
      const fields = { ...args, subnetIds };
      const stays = existing !== undefined && existing.status !== "DELETING" && sameFixedFields(existing, fields);
      return stays ? nodeGroupName : digestedName(nodeGroupName, fields);
    });
  }
}
