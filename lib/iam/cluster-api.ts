import { clusterTag, fleetTag } from "../labels.ts";
import { hubName } from "../names.ts";
import { ec2Actions, makeStatement, networkStatements } from "./ec2.ts";
import { lookUpStatement } from "./look-ups.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import { clusterRoleServices, eksRoleStatements, keepBoundariesStatement } from "./roles.ts";

/** What Cluster API's AWS provider on the hub may do in AWS: the clusters of charts/eks-cluster, in the territory of spokes. */

export interface ClusterApiScope extends Scope {
  readonly fleet: string;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: string;
  readonly spokePrefix: string;
  readonly boundaryArn: string;
  /** KMS key of the Kubernetes secrets of its clusters. */
  readonly keyArn: string;
}

/**
 * AWS managed policies that it attaches, by name (pkg/cloud/services/eks/roles.go of v2.11.1): to the role of a control plane the first, to
 * that of nodes the others.
 */
const managedPolicies = [
  "AmazonEKSClusterPolicy",
  "AmazonEKSWorkerNodePolicy",
  "AmazonEKS_CNI_Policy",
  "AmazonEC2ContainerRegistryReadOnly",
] as const;

/** Roles of control planes and of nodes under the fleet's boundary, by the names of the chart. No other role, and no OIDC provider. */
function roleStatements(scope: ClusterApiScope): Statement[] {
  const { managedPolicy, role } = arns(scope);
  const roles = ["cluster", "node", "node-*"].map((suffix) => role(`${scope.spokePrefix}*-${suffix}`));
  const attachable = managedPolicies.map(managedPolicy);
  return [
    {
      Sid: "BoundedRoles",
      Effect: "Allow",
      Action: ["iam:AttachRolePolicy", "iam:CreateRole", "iam:DetachRolePolicy"],
      Resource: roles,
      Condition: {
        StringEquals: { "iam:PermissionsBoundary": scope.boundaryArn },
        ArnEqualsIfExists: { "iam:PolicyARN": attachable },
      },
    },
    {
      Sid: "RoleUpkeep",
      Effect: "Allow",
      Action: [
        "iam:DeleteRole",
        "iam:GetRole",
        "iam:ListAttachedRolePolicies",
        "iam:*agRole",
        "iam:UpdateAssumeRolePolicy",
      ],
      Resource: roles,
    },
    { Sid: "ReadPolicies", Effect: "Allow", Action: ["iam:GetPolicy"], Resource: attachable },
    {
      // That of the EBS CSI driver goes to its add-on.
      Sid: "PassRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [...roles, role(`${scope.spokePrefix}*-aws-ebs-csi-driver`)],
      Condition: { StringEquals: { "iam:PassedToService": clusterRoleServices(scope) } },
    },
    ...eksRoleStatements(scope),
    keepBoundariesStatement,
  ];
}

/** Calls of pkg/cloud/services/eks of v2.11.1; upstream's own policy has them too (cmd/clusterawsadm, ControllersPolicyEKS). */
function clusterStatements(scope: ClusterApiScope): Statement[] {
  const { clusterAndParts } = arns(scope);
  return [
    {
      Sid: "Clusters",
      Effect: "Allow",
      Action: [
        "eks:*AccessEntry",
        "eks:*Addon",
        "eks:*Cluster",
        "eks:*Nodegroup",
        "eks:*ssociateAccessPolicy",
        "eks:*agResource",
        "eks:AssociateEncryptionConfig",
        "eks:ListAccessEntries",
        "eks:ListAddons",
        "eks:ListAssociatedAccessPolicies",
        "eks:ListIdentityProviderConfigs",
        "eks:UpdateClusterConfig",
        "eks:UpdateClusterVersion",
        "eks:UpdateNodegroup*",
      ],
      Resource: clusterAndParts(`${scope.spokePrefix}*`),
    },
    {
      // EKS makes the groups, and says on them of which cluster they are.
      Sid: "TagGroups",
      Effect: "Allow",
      Action: ["autoscaling:CreateOrUpdateTags", "autoscaling:DeleteTags"],
      Resource: [`arn:${scope.partition}:autoscaling:${scope.region}:${scope.accountId}:autoScalingGroup:*`],
      Condition: { StringLike: { "aws:ResourceTag/eks:cluster-name": `${scope.spokePrefix}*` } },
    },
    {
      Sid: "LookUpGroups",
      Effect: "Allow",
      Action: ["autoscaling:DescribeAutoScalingGroups"],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": scope.region } },
    },
  ];
}

/** A security group for nodes that each of its clusters gets. It is in no use here: EKS puts its own group on managed nodes. */
function groupStatements(scope: ClusterApiScope): Statement[] {
  const { ec2 } = arns(scope);
  const inRegion = { "aws:RequestedRegion": scope.region };
  return [
    makeStatement(
      scope,
      "MakeSecurityGroups",
      { CreateSecurityGroup: "security-group" },
      {
        StringEquals: { ...inRegion, [`aws:RequestTag/${fleetTag}`]: scope.fleet },
      },
    ),
    {
      Sid: "ChangeSecurityGroups",
      Effect: "Allow",
      Action: ec2Actions([
        "AuthorizeSecurityGroupIngress",
        "CreateSecurityGroup",
        "DeleteSecurityGroup",
        "RevokeSecurityGroup*gress",
      ]),
      Resource: ec2("security-group", "vpc"),
      Condition: { StringEquals: { ...inRegion, [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
  ];
}

/** The policy of the role of Cluster API's AWS provider. */
export function clusterApiPolicy(scope: ClusterApiScope): PolicyDocument {
  return policy(
    ...roleStatements(scope),
    lookUpStatement(scope),
    ...clusterStatements(scope),
    ...networkStatements(scope),
    ...groupStatements(scope),
    { Sid: "ReadKey", Effect: "Allow", Action: ["kms:DescribeKey"], Resource: [scope.keyArn] },
    {
      // EKS asks for it with the caller's rights; nobody can ask for one of their own.
      Sid: "GrantKey",
      Effect: "Allow",
      Action: ["kms:CreateGrant"],
      Resource: [scope.keyArn],
      Condition: { Bool: { "kms:GrantIsForAWSResource": "true" } },
    },
    {
      // The hub's network carries the fleet's tag too.
      Sid: "NothingOfTheHub",
      Effect: "Deny",
      Action: ["ec2:*"],
      Resource: ["*"],
      Condition: { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } },
    },
  );
}
