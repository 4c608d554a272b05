import { fleetTag } from "../labels.ts";
import { fleetNames, repositories } from "../names.ts";
import { clusterStatements } from "./clusters.ts";
import { createKeyStatements } from "./keys.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import { clusterRoleServices, roleUpkeep, serviceLinkedRoleStatements } from "./roles.ts";

export interface DeployerScope extends Scope {
  readonly fleet: string;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: string;
  /**
   * ARN of the stack's `permissionsBoundary`. With it the deployer makes and changes roles of the hub under this boundary only;
   * without it these roles may get any rights, and through them so may the deployer.
   */
  readonly permissionsBoundary?: string;
}

/** AWS managed policies that the program attaches, by name. */
export const managedPolicies = {
  cluster: ["AmazonEKSClusterPolicy"],
  node: ["AmazonEC2ContainerRegistryPullOnly", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
} as const;

/** Networks in the region, except what carries another fleet's tag. "IfExists": new resources have no tags yet. */
function networkStatements({ fleet, region }: DeployerScope): Statement[] {
  const condition = {
    StringEquals: { "aws:RequestedRegion": region },
    StringEqualsIfExists: { [`aws:ResourceTag/${fleetTag}`]: fleet },
  };
  const kinds = ["InternetGateway", "LaunchTemplate", "NatGateway", "Route", "RouteTable", "Subnet", "Tags", "Vpc"];
  return [
    {
      Sid: "Network",
      Effect: "Allow",
      Action: [
        "ec2:Describe*",
        ...kinds.flatMap((kind) => [`ec2:Create${kind}`, `ec2:Delete${kind}`]),
        "ec2:AllocateAddress",
        "ec2:AssociateRouteTable",
        "ec2:AttachInternetGateway",
        "ec2:AuthorizeSecurityGroupEgress",
        "ec2:AuthorizeSecurityGroupIngress",
        "ec2:CreateLaunchTemplateVersion",
        "ec2:CreateVpcEndpoint",
        "ec2:DeleteLaunchTemplateVersions",
        "ec2:DeleteVpcEndpoints",
        "ec2:DetachInternetGateway",
        "ec2:DisassociateAddress",
        "ec2:DisassociateRouteTable",
        "ec2:GetLaunchTemplateData",
        "ec2:ModifyLaunchTemplate",
        "ec2:ModifySubnetAttribute",
        "ec2:ModifyVpcAttribute",
        "ec2:ModifyVpcEndpoint",
        "ec2:ReleaseAddress",
        "ec2:ReplaceRoute",
        "ec2:ReplaceRouteTableAssociation",
        "ec2:RevokeSecurityGroupEgress",
        "ec2:RevokeSecurityGroupIngress",
        "ec2:RunInstances",
      ],
      Resource: ["*"],
      Condition: condition,
    },
  ];
}

/** Gives roles of the hub their rights: freely, or only under the boundary, which then stays on them. */
function hubRoleStatements(roles: readonly string[], boundary: string | undefined): Statement[] {
  const grants = ["iam:CreateRole", "iam:DeleteRolePolicy", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy"];
  if (boundary === undefined)
    return [
      {
        Sid: "HubRoles",
        Effect: "Allow",
        Action: [...grants, "iam:DeleteRolePermissionsBoundary", ...roleUpkeep],
        Resource: roles,
      },
    ];
  return [
    { Sid: "HubRoles", Effect: "Allow", Action: roleUpkeep, Resource: roles },
    {
      Sid: "HubRolesWithBoundary",
      Effect: "Allow",
      Action: grants,
      Resource: roles,
      Condition: { StringEquals: { "iam:PermissionsBoundary": boundary } },
    },
  ];
}

/** What one role needs over its life. Attaching is limited to the managed policies that the program names. */
function roleStatements(scope: DeployerScope): Statement[] {
  const name = arns(scope);
  const names = fleetNames(scope.fleet);
  const roles = [name.role(`${names.hubCluster}-*`)];
  return [
    ...hubRoleStatements(roles, scope.permissionsBoundary),
    {
      Sid: "ManagedPoliciesOfHubRoles",
      Effect: "Allow",
      Action: ["iam:AttachRolePolicy", "iam:DetachRolePolicy"],
      Resource: roles,
      Condition: {
        ArnEquals: { "iam:PolicyARN": Object.values(managedPolicies).flat().map(name.managedPolicy) },
      },
    },
    {
      Sid: "PassHubRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [name.role(names.clusterRole), name.role(names.nodeRole)],
      Condition: { StringEquals: { "iam:PassedToService": clusterRoleServices(scope) } },
    },
    ...serviceLinkedRoleStatements(scope, ["eks*.amazonaws.com", "autoscaling.amazonaws.com"]),
  ];
}

function identityStatements(scope: DeployerScope): Statement[] {
  const names = fleetNames(scope.fleet);
  return [
    {
      Sid: "Boundaries",
      Effect: "Allow",
      Action: [
        "iam:CreatePolicy",
        "iam:CreatePolicyVersion",
        "iam:DeletePolicy",
        "iam:DeletePolicyVersion",
        "iam:GetPolicy",
        "iam:GetPolicyVersion",
        "iam:ListPolicyTags",
        "iam:ListPolicyVersions",
        "iam:TagPolicy",
        "iam:UntagPolicy",
      ],
      Resource: [names.boundaryPolicy, names.tenantBoundaryPolicy].map(arns(scope).policy),
    },
    {
      Sid: "OidcProvider",
      Effect: "Allow",
      Action: [
        "iam:CreateOpenIDConnectProvider",
        "iam:DeleteOpenIDConnectProvider",
        "iam:GetOpenIDConnectProvider",
        "iam:ListOpenIDConnectProviderTags",
        "iam:TagOpenIDConnectProvider",
        "iam:UntagOpenIDConnectProvider",
        "iam:UpdateOpenIDConnectProviderThumbprint",
      ],
      Resource: arns(scope).eksOidcProviders,
    },
  ];
}

function secretStatements(scope: DeployerScope): Statement[] {
  const name = arns(scope);
  const names = fleetNames(scope.fleet);
  const tag = { [`aws:ResourceTag/${fleetTag}`]: scope.fleet };
  return [
    ...createKeyStatements(scope.fleet),
    {
      Sid: "Keys",
      Effect: "Allow",
      Action: [
        "kms:CancelKeyDeletion",
        "kms:CreateAlias",
        "kms:CreateGrant",
        "kms:Decrypt",
        "kms:DeleteAlias",
        "kms:DescribeKey",
        "kms:EnableKeyRotation",
        "kms:GenerateDataKey",
        "kms:GetKeyPolicy",
        "kms:GetKeyRotationStatus",
        "kms:ListResourceTags",
        "kms:ScheduleKeyDeletion",
        "kms:TagResource",
        "kms:UntagResource",
        "kms:UpdateAlias",
        "kms:UpdateKeyDescription",
      ],
      Resource: [name.kmsKey("*")],
      Condition: { StringEquals: tag },
    },
    {
      Sid: "KeyAliases",
      Effect: "Allow",
      Action: ["kms:CreateAlias", "kms:DeleteAlias", "kms:UpdateAlias"],
      Resource: [names.clusterKeyAlias, names.secretsKeyAlias].map(name.kmsAlias),
    },
    { Sid: "FindKeyAliases", Effect: "Allow", Action: ["kms:ListAliases"], Resource: ["*"] },
    {
      Sid: "Secrets",
      Effect: "Allow",
      Action: [
        "secretsmanager:CreateSecret",
        "secretsmanager:DeleteSecret",
        "secretsmanager:DescribeSecret",
        "secretsmanager:GetResourcePolicy",
        "secretsmanager:GetSecretValue",
        "secretsmanager:ListSecretVersionIds",
        "secretsmanager:PutSecretValue",
        "secretsmanager:RestoreSecret",
        "secretsmanager:TagResource",
        "secretsmanager:UntagResource",
        "secretsmanager:UpdateSecret",
        "secretsmanager:UpdateSecretVersionStage",
      ],
      Resource: [
        ...repositories.map((repository) => name.secret(`${names.gitSecret(repository)}*`)),
        name.secret(`${names.sealingKeySecret("*", "*")}`),
      ],
    },
  ];
}

/**
 * What a person or pipeline that runs `pulumi up`, `refresh` and `destroy` needs in AWS, as managed policies by name
 * (each fits IAM's quota). Access to the cluster itself comes with having created it, or from `clusterAdmins`.
 */
export function deployerPolicies(scope: DeployerScope): Record<string, PolicyDocument> {
  return {
    "deployer-network": policy(
      ...networkStatements(scope),
      ...clusterStatements(scope, fleetNames(scope.fleet).hubCluster),
    ),
    "deployer-identity": policy(...roleStatements(scope), ...identityStatements(scope)),
    "deployer-secrets": policy(...secretStatements(scope)),
  };
}
