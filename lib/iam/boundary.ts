import { fleetNames } from "../names.ts";
import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { boundedRoleStatements } from "./roles.ts";
import { tenantPrefix } from "./tenants.ts";

export interface BoundaryScope extends Scope {
  readonly fleet: string;
  /** The narrower boundary of the roles that a spoke's own Crossplane makes for applications. */
  readonly tenantBoundaryArn: string;
}

/**
 * The permissions boundary of every role that Crossplane makes: the most that a control plane, a node or a controller of a spoke
 * can ever be given. Rights can be handed out to applications only, and only under the tenants' boundary.
 */
export function spokeBoundary(scope: BoundaryScope): PolicyDocument {
  const names = fleetNames(scope.fleet);
  const name = arns(scope);
  return policy(
    {
      Sid: "ClusterAndApplicationServices",
      Effect: "Allow",
      Action: [
        "autoscaling:*",
        "cloudwatch:*",
        "dynamodb:*",
        "ec2:*",
        "ecr:*",
        "eks:*",
        "eks-auth:*",
        "elasticloadbalancing:*",
        "kms:*",
        "logs:*",
        "sqs:*",
        "sts:AssumeRoleWithWebIdentity",
        "sts:GetCallerIdentity",
        "sts:TagSession",
        "tag:GetResources",
      ],
      Resource: ["*"],
      Condition: { StringEquals: { "aws:RequestedRegion": scope.region } },
    },
    {
      Sid: "ReadIamAndMakeServiceLinkedRoles",
      Effect: "Allow",
      Action: ["iam:CreateServiceLinkedRole", "iam:GetInstanceProfile", "iam:GetRole", "iam:ListAttachedRolePolicies"],
      Resource: ["*"],
    },
    {
      Sid: "ReadSealingKeysAndGitCredentialsOfSpokes",
      Effect: "Allow",
      Action: ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
      Resource: [name.secret(`${names.sealingKeyPrefix}*`), name.secret(names.spokeGitSecret("*"))],
    },
    ...boundedRoleStatements([name.role(`${tenantPrefix(`${names.spokePrefix}*`)}*`)], scope.tenantBoundaryArn),
    {
      Sid: "NeverDeleteClustersOrKeys",
      Effect: "Deny",
      Action: ["eks:DeleteCluster", "kms:DisableKey", "kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"],
      Resource: ["*"],
    },
  );
}
