import { clusterApiMaker, clusterTag, fleetTag, identityTag, madeByTag, principalTags } from "../labels.ts";
import { hubName } from "../names.ts";
import { clusterApiRoleSeparator } from "../spoke.ts";
import { notOfOthers } from "./cluster-api-boundary.ts";
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
  /** Permissions boundary of the roles that it makes (`clusterApiBoundary`). */
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

/** Identities of the roles that it makes: their boundary gives load balancers to a control plane alone. */
const identities = ["cluster", "node"] as const;

/** A tag with which it makes roles, and by which it knows them: names alone would also fit roles of a Spoke called multi-node-a. */
const asOwn = { [`aws:RequestTag/${madeByTag}`]: clusterApiMaker, [`aws:RequestTag/${identityTag}`]: identities };
const ofOwn = { [`iam:ResourceTag/${madeByTag}`]: clusterApiMaker };

/**
 * Roles of control planes and of nodes under their boundary, by the names of the chart. No other role, and no OIDC provider. IAM has no reliable
 * tags for iam:PassRole (Service Authorization Reference, "IAM"), so that no role of Crossplane's clusters may have such a name.
 */
function roleStatements(scope: ClusterApiScope): Statement[] {
  const { managedPolicy, role } = arns(scope);
  const named = (suffix: string) => role(`${scope.spokePrefix}*${clusterApiRoleSeparator}${suffix}`);
  const roles = [named("cluster"), named("node*")];
  const known = [role(`${scope.spokePrefix}*`)];
  const attachable = managedPolicies.map(managedPolicy);
  const bounded = { "iam:PermissionsBoundary": scope.boundaryArn };
  return [
    {
      Sid: "MakeRoles",
      Effect: "Allow",
      Action: ["iam:CreateRole"],
      Resource: roles,
      Condition: { StringEquals: { ...bounded, ...asOwn } },
    },
    {
      // IAM asks for it when a role is made with tags. No tags of the role are known then.
      Sid: "TagNewRoles",
      Effect: "Allow",
      Action: ["iam:TagRole"],
      Resource: roles,
      Condition: {
        StringEquals: asOwn,
        StringEqualsIfExists: { [`iam:ResourceTag/${identityTag}`]: identities },
      },
    },
    {
      Sid: "OwnRoles",
      Effect: "Allow",
      Action: ["iam:AttachRolePolicy", "iam:DeleteRole", "iam:DetachRolePolicy", "iam:UpdateAssumeRolePolicy"],
      Resource: known,
      Condition: {
        StringEquals: { ...bounded, ...ofOwn },
        ArnEqualsIfExists: { "iam:PolicyARN": attachable },
      },
    },
    {
      Sid: "TagOwnRoles",
      Effect: "Allow",
      Action: ["iam:*agRole"],
      Resource: known,
      Condition: {
        StringEquals: ofOwn,
        StringEqualsIfExists: { [`aws:RequestTag/${identityTag}`]: identities },
      },
    },
    { Sid: "ReadRoles", Effect: "Allow", Action: ["iam:GetRole", "iam:ListAttachedRolePolicies"], Resource: known },
    { Sid: "ReadPolicies", Effect: "Allow", Action: ["iam:GetPolicy"], Resource: attachable },
    {
      // The add-on of the EBS CSI driver gets the role that the Spoke makes.
      Sid: "PassRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [...roles, named("aws-ebs-csi-driver")],
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

/**
 * Nothing of clusters that Crossplane makes, whose names begin the same: v2.11.1 takes any cluster of the name in its specification for its
 * own. Everything that a spoke is made of, roles of its applications too, names its cluster in a tag; what is being made has no tags yet.
 */
const othersStatements: readonly Statement[] = [
  {
    Sid: "NothingOfOthers",
    Effect: "Deny",
    Action: [
      "eks:*ssociateAccessPolicy",
      "eks:AssociateEncryptionConfig",
      "eks:CreateAccessEntry",
      "eks:CreateAddon",
      "eks:CreateNodegroup",
      "eks:Delete*",
      "eks:Update*",
    ],
    Resource: ["*"],
    Condition: { StringNotEquals: { [`aws:ResourceTag/${madeByTag}`]: clusterApiMaker } },
  },
  {
    Sid: "NoTagsOfOthers",
    Effect: "Deny",
    Action: ["eks:*agResource", "iam:*agRole"],
    Resource: ["*"],
    Condition: {
      Null: { [`aws:ResourceTag/${principalTags.cluster}`]: "false" },
      StringNotEquals: { [`aws:ResourceTag/${madeByTag}`]: clusterApiMaker },
    },
  },
];

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
    ...othersStatements,
    { Sid: "NothingOfOthersNetworks", ...notOfOthers(["ec2:*"]) },
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
