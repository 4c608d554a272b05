import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";

type Tags = pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;

const everywhere = { fromPort: 0, toPort: 0, protocol: "-1", cidrBlocks: ["0.0.0.0/0"] };

interface ClusterGroupArgs {
  readonly vpcId: pulumi.Input<string>;
  readonly tags: Tags;
  readonly groupTags: Tags;
}

/** The additional security group of the control plane, with its way out. */
export function createClusterSecurityGroup(
  name: string,
  args: ClusterGroupArgs,
  parent: pulumi.Resource,
): aws.ec2.SecurityGroup {
  const group = new aws.ec2.SecurityGroup(
    `${name}-eksClusterSecurityGroup`,
    {
      vpcId: args.vpcId,
      revokeRulesOnDelete: true,
      tags: pulumi
        .all([args.tags, args.groupTags])
        .apply(([tags, own]) => ({ Name: `${name}-eksClusterSecurityGroup`, ...own, ...tags })),
    },
    { parent },
  );
  new aws.ec2.SecurityGroupRule(
    `${name}-eksClusterInternetEgressRule`,
    { description: "Allow internet access.", type: "egress", ...everywhere, securityGroupId: group.id },
    { parent },
  );
  return group;
}

interface NodeGroupArgs extends ClusterGroupArgs {
  readonly cluster: aws.eks.Cluster;
  readonly clusterSecurityGroupId: pulumi.Input<string>;
}

/** The security group of nodes with the rules that they and the control plane need, and the rule that lets them reach the API. */
export function createNodeSecurityGroup(
  name: string,
  args: NodeGroupArgs,
  parent: pulumi.Resource,
): [aws.ec2.SecurityGroup, aws.ec2.SecurityGroupRule] {
  const group = new aws.ec2.SecurityGroup(
    `${name}-nodeSecurityGroup`,
    {
      vpcId: args.vpcId,
      revokeRulesOnDelete: true,
      tags: pulumi.all([args.tags, args.groupTags, args.cluster.name]).apply(([tags, own, cluster]) => ({
        Name: `${name}-nodeSecurityGroup`,
        [`kubernetes.io/cluster/${cluster}`]: "owned",
        ...own,
        ...tags,
      })),
    },
    { parent },
  );
  const rule = (
    child: string,
    rest: Omit<aws.ec2.SecurityGroupRuleArgs, "securityGroupId">,
    of: pulumi.Input<string> = group.id,
  ) => new aws.ec2.SecurityGroupRule(`${name}-${child}`, { ...rest, securityGroupId: of }, { parent });
  const fromCluster = { type: "ingress", protocol: "tcp", sourceSecurityGroupId: args.clusterSecurityGroupId };
  rule("eksNodeIngressRule", {
    description: "Allow nodes to communicate with each other",
    ...{ type: "ingress", fromPort: 0, toPort: 0, protocol: "-1", self: true },
  });
  rule("eksNodeClusterIngressRule", {
    description: "Allow worker Kubelets and pods to receive communication from the cluster control plane",
    ...{ ...fromCluster, fromPort: 1025, toPort: 65535 },
  });
  rule("eksExtApiServerClusterIngressRule", {
    description:
      "Allow pods running extension API servers on port 443 to receive communication from cluster control plane",
    ...{ ...fromCluster, fromPort: 443, toPort: 443 },
  });
  rule("eksNodeInternetEgressRule", { description: "Allow internet access.", type: "egress", ...everywhere });
  const api = rule(
    "eksClusterIngressRule",
    {
      description: "Allow pods to communicate with the cluster API Server",
      ...{ type: "ingress", fromPort: 443, toPort: 443, protocol: "tcp", sourceSecurityGroupId: group.id },
    },
    args.clusterSecurityGroupId,
  );
  return [group, api];
}
