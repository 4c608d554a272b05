import * as aws from "@pulumi/aws";
import * as eks from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { managedPolicies } from "../lib/iam/deployer.ts";
import { serviceTrust } from "../lib/iam/trust.ts";
import type { HubCluster } from "./hub-cluster.ts";
import { ServiceRole } from "./service-role.ts";

export interface HubNodesArgs {
  readonly cluster: HubCluster;
  /** Name of the node group and of its launch template. */
  readonly nodeGroupName: string;
  readonly kubernetesVersion: string;
  /** Subnets with a way out. */
  readonly subnetIds: pulumi.Input<string>[];
  readonly instanceTypes: readonly string[];
  readonly capacityType: "ON_DEMAND" | "SPOT";
  /** An Amazon Linux 2023 AMI type that fits the instance types. */
  readonly amiType: string;
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
        nodeGroupName,
        nodeRoleArn: role.arn,
        subnetIds: args.subnetIds,
        instanceTypes: [...args.instanceTypes],
        capacityType: args.capacityType,
        amiType: args.amiType,
        version: args.kubernetesVersion,
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
}
