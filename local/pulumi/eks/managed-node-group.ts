/** eks:index:ManagedNodeGroup as @pulumi/eks 4.3.0 makes it. */
import * as aws from "@pulumi/aws";
import type { Cluster, ManagedNodeGroupArgs, types } from "@pulumi/eks";
import * as pulumi from "@pulumi/pulumi";
import { type ArgumentError, notHonoured, refuse } from "./args.ts";

const token = "eks:index:ManagedNodeGroup";

const honoured: (keyof ManagedNodeGroupArgs)[] = [
  ...(["cluster", "clusterName", "nodeGroupName", "nodeRole", "nodeRoleArn", "subnetIds", "scalingConfig"] as const),
  ...(["amiType", "capacityType", "diskSize", "instanceTypes", "labels", "taints", "tags", "version"] as const),
  ...(["releaseVersion", "forceUpdateVersion", "launchTemplate", "ignoreScalingChanges", "enableIMDSv2"] as const),
];

/** Every mistake in the arguments, those that the real component refuses included. */
function managedNodeGroupArgumentErrors(args: ManagedNodeGroupArgs): ArgumentError[] {
  const errors = notHonoured(args, honoured);
  const fail = (property: keyof ManagedNodeGroupArgs, reason: string) => errors.push({ property, reason });
  if (args.cluster === undefined) fail("cluster", "is missing");
  if (args.nodeRole && args.nodeRoleArn) fail("nodeRole", "excludes nodeRoleArn: set one of them");
  if (!args.nodeRole && !args.nodeRoleArn) fail("nodeRole", "is missing: set nodeRole or nodeRoleArn");
  if (args.launchTemplate && args.enableIMDSv2 !== undefined)
    fail("launchTemplate", "excludes enableIMDSv2: set the metadata options in the launch template");
  return errors;
}

export class ManagedNodeGroup extends pulumi.ComponentResource {
  readonly nodeGroup: aws.eks.NodeGroup;

  constructor(name: string, args: ManagedNodeGroupArgs, opts: pulumi.ComponentResourceOptions) {
    refuse(token, name, managedNodeGroupArgumentErrors(args));
    super(token, name, {}, opts);
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
  const { cluster, nodeRole, nodeRoleArn, enableIMDSv2, ignoreScalingChanges, diskSize, ...rest } = args;
  const template = enableIMDSv2 === undefined ? undefined : createLaunchTemplate(name, enableIMDSv2, diskSize, parent);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return new aws.eks.NodeGroup(
    name,
    {
      ...given,
      ...(!args.version && !args.launchTemplate && { version: core.apply((c) => c.cluster.version) }),
      ...(diskSize !== undefined && !template && { diskSize }),
      clusterName: args.clusterName ?? core.apply((c) => c.cluster.name),
      nodeRoleArn: nodeRoleArn ?? pulumi.output(nodeRole as pulumi.Input<aws.iam.Role>).apply(({ arn }) => arn),
      scalingConfig: pulumi.output(args.scalingConfig).apply((config) => ({
        desiredSize: config?.desiredSize ?? 2,
        minSize: config?.minSize ?? 1,
        maxSize: config?.maxSize ?? 2,
      })),
      subnetIds: args.subnetIds ?? core.apply((c) => c.subnetIds),
      ...(template && { launchTemplate: { id: template.id, version: template.latestVersion.apply(String) } }),
    },
    { parent, ignoreChanges: ignoreScalingChanges ? ["scalingConfig.desiredSize"] : [] },
  );
}

/** Only what a managed node group has no argument for needs a template of its own. */
function createLaunchTemplate(
  name: string,
  enableIMDSv2: boolean,
  diskSize: pulumi.Input<number> | undefined,
  parent: ManagedNodeGroup,
): aws.ec2.LaunchTemplate {
  return new aws.ec2.LaunchTemplate(
    `${name}-launchTemplate`,
    {
      metadataOptions: {
        httpTokens: enableIMDSv2 ? "required" : "optional",
        httpPutResponseHopLimit: 2,
        httpEndpoint: "enabled",
      },
      ...(diskSize !== undefined && {
        blockDeviceMappings: [{ deviceName: "/dev/xvda", ebs: { volumeSize: diskSize } }],
      }),
    },
    { parent },
  );
}
