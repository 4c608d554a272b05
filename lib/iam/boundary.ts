import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";

export interface BoundaryScope extends Scope {
  /** Prefix of the fleet's sealing keys in Secrets Manager, with the slash. */
  readonly sealingKeyPrefix: string;
}

/**
 * The permissions boundary of every role that Crossplane makes: the most that a control plane, a node or a controller of a spoke
 * can ever be given. IAM only to read and to make service-linked roles: no role of a spoke can hand out rights.
 */
export function spokeBoundary(scope: BoundaryScope): PolicyDocument {
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
      Sid: "ReadSealingKeys",
      Effect: "Allow",
      Action: ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
      Resource: [arns(scope).secret(`${scope.sealingKeyPrefix}*`)],
    },
    {
      Sid: "NeverDeleteClustersOrKeys",
      Effect: "Deny",
      Action: ["eks:DeleteCluster", "kms:DisableKey", "kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"],
      Resource: ["*"],
    },
  );
}
