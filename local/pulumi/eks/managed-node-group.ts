/** eks:index:ManagedNodeGroup as @pulumi/eks 4.3.0 makes it. */
import * as aws from "@pulumi/aws";
import type { Cluster, ManagedNodeGroupArgs, types } from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { expectNodeGroupArguments } from "./arguments.ts";

export class ManagedNodeGroup extends pulumi.ComponentResource {
  readonly nodeGroup: aws.eks.NodeGroup;

  constructor(name: string, args: ManagedNodeGroupArgs, opts: pulumi.ComponentResourceOptions) {
    expectNodeGroupArguments(name, args);
    super("eks:index:ManagedNodeGroup", name, {}, opts);
    this.nodeGroup = createNodeGroup(name, args, this);
    this.registerOutputs({ nodeGroup: this.nodeGroup, placementGroupName: "" });
  }
}

/** The cluster may be the component or its `core`. */
function coreOf(cluster: ManagedNodeGroupArgs["cluster"]) {
  return pulumi.output(cluster).apply((given) => {
    const { core } = given as unknown as Cluster;
    return core ?? (given as unknown as types.output.CoreData);
  });
}

function createNodeGroup(name: string, args: ManagedNodeGroupArgs, parent: ManagedNodeGroup): aws.eks.NodeGroup {
  const core = coreOf(args.cluster);
  const { cluster, nodeRole, nodeRoleArn, ignoreScalingChanges, ...rest } = args;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return new aws.eks.NodeGroup(
    name,
    {
      ...given,
      ...(!args.version && !args.launchTemplate && { version: core.apply((c) => c.cluster.version) }),
      clusterName: args.clusterName ?? core.apply((c) => c.cluster.name),
      nodeRoleArn: nodeRoleArn ?? pulumi.output(nodeRole as pulumi.Input<aws.iam.Role>).apply(({ arn }) => arn),
      scalingConfig: pulumi.output(args.scalingConfig).apply((config) => ({
        desiredSize: config?.desiredSize ?? 2,
        minSize: config?.minSize ?? 1,
        maxSize: config?.maxSize ?? 2,
      })),
      subnetIds: args.subnetIds ?? core.apply((c) => c.subnetIds),
    },
    { parent, ignoreChanges: ignoreScalingChanges ? ["scalingConfig.desiredSize"] : [] },
  );
}
