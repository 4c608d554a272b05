import { arns, type Scope, type Statement } from "./policy.ts";

/**
 * Services to which the roles of a cluster and of its nodes are passed. Node trust names ec2.amazonaws.com in every partition;
 * what iam:PassedToService holds for EC2 in China is its name there, so both count.
 */
export function clusterRoleServices({ dnsSuffix }: { readonly dnsSuffix: string }): string[] {
  return [...new Set(["eks.amazonaws.com", "ec2.amazonaws.com", `ec2.${dnsSuffix}`])];
}

/** AWS managed policy of the EBS CSI driver, by name. */
export const volumeDriverPolicy = "service-role/AmazonEBSCSIDriverPolicy";

/** What a role needs over its life and what gives it no rights. */
export const roleUpkeep = [
  "iam:DeleteRole",
  "iam:GetRole",
  "iam:GetRolePolicy",
  "iam:ListAttachedRolePolicies",
  "iam:ListInstanceProfilesForRole",
  "iam:ListRolePolicies",
  "iam:ListRoleTags",
  "iam:TagRole",
  "iam:UntagRole",
  "iam:UpdateAssumeRolePolicy",
  "iam:UpdateRole",
  "iam:UpdateRoleDescription",
] as const;

/**
 * A role's whole life, for the roles that the ARN patterns `roles` name and only with the permissions boundary `boundaryArn`.
 * What changes a role's rights asks for the boundary too, so a role that somebody made without one is out of reach.
 * Of managed policies only `attachable` (ARNs) can be attached; without any, none.
 */
export function boundedRoleStatements(
  roles: readonly string[],
  boundaryArn: string,
  attachable: readonly string[] = [],
): Statement[] {
  const bounded = { "iam:PermissionsBoundary": boundaryArn };
  return [
    {
      Sid: "RolesWithBoundary",
      Effect: "Allow",
      Action: ["iam:CreateRole", "iam:DetachRolePolicy", "iam:PutRolePolicy", "iam:DeleteRolePolicy"],
      Resource: roles,
      Condition: { StringEquals: bounded },
    },
    ...attachStatements(roles, bounded, attachable),
    {
      Sid: "RolesUnderPrefix",
      Effect: "Allow",
      Action: roleUpkeep,
      Resource: roles,
    },
  ];
}

function attachStatements(
  roles: readonly string[],
  bounded: Readonly<Record<string, string>>,
  attachable: readonly string[],
): Statement[] {
  if (attachable.length === 0) return [];
  return [
    {
      Sid: "AttachManagedPolicies",
      Effect: "Allow",
      Action: ["iam:AttachRolePolicy"],
      Resource: roles,
      Condition: { StringEquals: bounded, ArnEquals: { "iam:PolicyARN": attachable } },
    },
  ];
}

/** Whoever makes roles with a boundary may neither take a boundary off nor widen the boundary policies. */
export function keepBoundaryStatements(boundaryArns: readonly string[]): Statement[] {
  return [
    {
      Sid: "NeverTouchBoundaries",
      Effect: "Deny",
      Action: ["iam:PutRolePermissionsBoundary", "iam:DeleteRolePermissionsBoundary"],
      Resource: ["*"],
    },
    {
      Sid: "NeverChangeTheBoundaryPolicy",
      Effect: "Deny",
      Action: ["iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:DeletePolicyVersion", "iam:SetDefaultPolicyVersion"],
      Resource: boundaryArns,
    },
  ];
}

/**
 * Makes the service-linked roles of `services` (names, `*` for any characters). EKS looks with the caller's rights whether one exists:
 * without iam:GetRole it makes no node group.
 */
export function serviceLinkedRoleStatements(scope: Scope, services: readonly string[]): Statement[] {
  return [
    {
      Sid: "ServiceLinkedRoles",
      Effect: "Allow",
      Action: ["iam:CreateServiceLinkedRole"],
      Resource: ["*"],
      Condition: { StringLike: { "iam:AWSServiceName": services } },
    },
    {
      Sid: "FindServiceLinkedRoles",
      Effect: "Allow",
      Action: ["iam:GetRole"],
      Resource: [arns(scope).role("aws-service-role/*")],
    },
  ];
}
