import { fleetTag, guardDutyTag } from "../labels.ts";
import { fleetBoundaries, fleetNames, hubPodRoles, hubSealingScope, repositories } from "../names.ts";
import { clusterStatements } from "./clusters.ts";
import { ec2Actions, nodeNetworkStatements } from "./ec2.ts";
import { type GrafanaAuthentication, grafanaStatements } from "./grafana.ts";
import { grantKeysStatement, keyStatements } from "./keys.ts";
import { lookUpStatement } from "./look-ups.ts";
import { metricsStatements } from "./metrics.ts";
import { oidcProviderStatements } from "./oidc-providers.ts";
import { arns, inCallersAccount, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import { clusterRoleServices, eksRoleStatements, roleUpkeep } from "./roles.ts";
import { podIdentityService } from "./trust.ts";

export interface DeployerScope extends Scope {
  readonly fleet: string;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: string;
  /**
   * ARN of the stack's `permissionsBoundary`. With it the deployer makes and changes roles of the hub under this boundary only;
   * without it these roles may get any rights, and through them so may the deployer.
   */
  readonly permissionsBoundary?: string;
  /** The stack's `grafanaAuthentication`, where it has `grafana: amg`; without it nothing of Grafana is allowed. */
  readonly grafana?: GrafanaAuthentication;
  /** ARN of the key of the fleet's secrets, for a stack with `accounts`; without it no key's policy can be changed. */
  readonly secretsKeyArn?: string;
}

/** AWS managed policies that the program attaches, by name. */
export const managedPolicies = {
  cluster: ["AmazonEKSClusterPolicy"],
  node: ["AmazonEC2ContainerRegistryPullOnly", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy"],
  /** Of nodes on which Session Manager opens shells. */
  sessions: ["AmazonSSMManagedInstanceCore"],
} as const;

/** The hub's network, and the default security group of its VPC. */
function hubNetworkStatements(scope: DeployerScope): Statement[] {
  return [
    ...nodeNetworkStatements(scope),
    {
      // EC2 makes it with the VPC, without a tag; the program tags it and takes its rules away.
      Sid: "DefaultSecurityGroup",
      Effect: "Allow",
      Action: ec2Actions(["CreateTags", "DeleteTags", "RevokeSecurityGroupEgress", "RevokeSecurityGroupIngress"]),
      Resource: arns(scope).ec2("security-group"),
      Condition: {
        StringEquals: { "aws:RequestedRegion": scope.region },
        StringEqualsIfExists: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet },
      },
    },
    {
      // The AWS provider removes GuardDuty's endpoint and security group when they block the deletion of a subnet or VPC (@pulumi/aws, ec2.Vpc).
      Sid: "GuardDuty",
      Effect: "Allow",
      Action: ec2Actions(["DeleteSecurityGroup", "DeleteVpcEndpoints", "ModifyVpcEndpoint"]),
      Resource: arns(scope).ec2("security-group", "vpc-endpoint"),
      Condition: {
        StringEquals: {
          "aws:RequestedRegion": scope.region,
          [`aws:ResourceTag/${guardDutyTag.key}`]: guardDutyTag.value,
        },
      },
    },
  ];
}

/** The hub's cluster, and what gives its pods their roles by EKS Pod Identity. */
function hubClusterStatements(scope: DeployerScope): Statement[] {
  return [
    ...clusterStatements(scope, fleetNames(scope.fleet).hubCluster, ["*PodIdentityAssociation"]),
    {
      Sid: "PassRolesToPods",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: hubPodRoles(scope.fleet).map(arns(inCallersAccount(scope)).role),
      Condition: { StringEquals: { "iam:PassedToService": podIdentityService } },
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
      // What these say the deployer writes itself, so they ask for the boundary as a policy in the role does.
      Sid: "OwnPoliciesOfHubRoles",
      Effect: "Allow",
      Action: ["iam:AttachRolePolicy", "iam:DetachRolePolicy"],
      Resource: [name.role(names.crossplaneRole)],
      Condition: {
        ArnEquals: { "iam:PolicyARN": names.crossplanePolicies.map(name.policy) },
        ...(scope.permissionsBoundary && { StringEquals: { "iam:PermissionsBoundary": scope.permissionsBoundary } }),
      },
    },
    {
      Sid: "PassHubRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [name.role(names.clusterRole), name.role(names.nodeRole)],
      Condition: { StringEquals: { "iam:PassedToService": clusterRoleServices(scope) } },
    },
    {
      // The program compares the hub's block of Services with the stack's (components/service-block.ts); EKS knows no resource here.
      Sid: "FindClusters",
      Effect: "Allow",
      Action: ["eks:ListClusters"],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": scope.region } },
    },
    ...eksRoleStatements(scope),
  ];
}

function identityStatements(scope: DeployerScope): Statement[] {
  return [
    {
      Sid: "OwnPolicies",
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
      Resource: [...fleetBoundaries(scope.fleet), ...fleetNames(scope.fleet).crossplanePolicies].map(
        arns(scope).policy,
      ),
    },
    ...oidcProviderStatements(scope),
  ];
}

/**
 * Of the one key that spokes in other accounts use. By tags it would be every key of the account that has none, as the deployer tags
 * those (`keyStatements`); and who writes a key's policy gives it to anybody.
 */
const keyPolicyStatements = ({ secretsKeyArn: arn }: DeployerScope): Statement[] =>
  arn === undefined ? [] : [{ Sid: "KeyPolicy", Effect: "Allow", Action: ["kms:PutKeyPolicy"], Resource: [arn] }];

function secretStatements(scope: DeployerScope): Statement[] {
  const name = arns(scope);
  const names = fleetNames(scope.fleet);
  return [
    ...keyStatements(scope),
    grantKeysStatement(scope),
    {
      // The secrets below are encrypted with a key that may be too new for its tag to count.
      Sid: "EncryptSecrets",
      Effect: "Allow",
      Action: ["kms:Decrypt", "kms:GenerateDataKey"],
      Resource: [name.kmsKey("*")],
      Condition: { StringEquals: { "kms:ViaService": `secretsmanager.${scope.region}.${scope.dnsSuffix}` } },
    },
    {
      Sid: "KeyAliases",
      Effect: "Allow",
      Action: ["kms:CreateAlias", "kms:DeleteAlias", "kms:UpdateAlias"],
      Resource: [names.clusterApiKeyAlias, names.clusterKeyAlias, names.secretsKeyAlias].map(name.kmsAlias),
    },
    ...keyPolicyStatements(scope),
    {
      Sid: "Secrets",
      Effect: "Allow",
      Action: [
        "secretsmanager:CreateSecret",
        "secretsmanager:DeleteResourcePolicy",
        "secretsmanager:DeleteSecret",
        "secretsmanager:DescribeSecret",
        "secretsmanager:GetResourcePolicy",
        "secretsmanager:GetSecretValue",
        "secretsmanager:ListSecretVersionIds",
        "secretsmanager:PutResourcePolicy",
        "secretsmanager:PutSecretValue",
        "secretsmanager:RestoreSecret",
        "secretsmanager:TagResource",
        "secretsmanager:UntagResource",
        "secretsmanager:UpdateSecret",
        "secretsmanager:UpdateSecretVersionStage",
      ],
      Resource: [
        ...repositories.map((repository) => name.secret(`${names.gitSecret(repository)}*`)),
        name.secret(`${names.receiverPrefix}*`),
        name.secret(names.notificationSecret("*")),
        ...["*", hubSealingScope].map((scope) => name.secret(names.sealingKeySecret(scope, "*"))),
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
    "deployer-network": policy(lookUpStatement(scope), ...hubNetworkStatements(scope), ...hubClusterStatements(scope)),
    "deployer-identity": policy(...roleStatements(scope), ...identityStatements(scope)),
    "deployer-secrets": policy(...secretStatements(scope)),
    "deployer-metrics": policy(...metricsStatements(scope)),
    ...(scope.grafana && { "deployer-grafana": policy(...grafanaStatements(scope, scope.grafana)) }),
  };
}
