import { arns, type Condition, type Scope, type Statement } from "./policy.ts";

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
  "iam:*agRole",
  "iam:UpdateAssumeRolePolicy",
  "iam:UpdateRole*",
] as const;

/**
 * A role's whole life, for the roles that the ARN patterns `roles` name and only with one of the permissions boundaries `boundaryArns`.
 * What changes a role's rights asks for the boundary too, so a role that somebody made without one is out of reach.
 * Of managed policies only `attachable` (ARNs) can be attached; without any, none.
 */
export function boundedRoleStatements(
  roles: readonly string[],
  boundaryArns: readonly [string, ...string[]],
  attachable: readonly string[] = [],
): Statement[] {
  const bounded = { "iam:PermissionsBoundary": boundaryArns.length === 1 ? boundaryArns[0] : boundaryArns };
  // Calls that attach or detach always have iam:PolicyARN, the others never (Service Authorization Reference, "IAM").
  const attaching: { calls: readonly string[]; condition: Condition } =
    attachable.length === 0
      ? { calls: [], condition: {} }
      : { calls: ["iam:AttachRolePolicy"], condition: { ArnEqualsIfExists: { "iam:PolicyARN": attachable } } };
  return [
    {
      Sid: "BoundedRoles",
      Effect: "Allow",
      Action: [
        ...attaching.calls,
        "iam:CreateRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:PutRolePolicy",
      ],
      Resource: roles,
      Condition: { StringEquals: bounded, ...attaching.condition },
    },
    {
      Sid: "RoleUpkeep",
      Effect: "Allow",
      Action: roleUpkeep,
      Resource: roles,
    },
  ];
}

/** Whoever makes roles with a boundary may neither take a boundary off nor widen the policies that are boundaries. */
export const keepBoundariesStatement: Statement = {
  Sid: "KeepBoundaries",
  Effect: "Deny",
  Action: [
    "iam:CreatePolicyVersion",
    "iam:DeletePolicy*",
    "iam:DeleteRolePermissionsBoundary",
    "iam:PutRolePermissionsBoundary",
    "iam:SetDefaultPolicyVersion",
  ],
  Resource: ["*"],
};

/**
 * EKS makes its service-linked roles with the caller's rights. What these roles need further, Auto Scaling's among them, they make themselves
 * (AWS Managed Policy Reference, "AWSServiceRoleForAmazonEKSNodegroup").
 */
export const eksLinkedRolesStatement = (scope: Scope): Statement => ({
  Sid: "ServiceLinkedRoles",
  Effect: "Allow",
  Action: ["iam:CreateServiceLinkedRole"],
  Resource: [arns(scope).serviceLinkedRole("eks*")],
  Condition: { StringEquals: { "iam:AWSServiceName": ["eks.amazonaws.com", "eks-nodegroup.amazonaws.com"] } },
});

/**
 * What whoever makes clusters and their roles needs in IAM. EKS looks for its service-linked roles: without iam:GetRole it makes no node group.
 * An instance profile that EKS left behind, called eks-<id>, holds the role of the nodes, which the provider frees before it deletes the role
 * (terraform-provider-aws, internal/service/iam/role.go).
 */
export const eksRoleStatements = (scope: Scope): Statement[] => [
  eksLinkedRolesStatement(scope),
  {
    Sid: "RolesOfEks",
    Effect: "Allow",
    Action: ["iam:GetRole", "iam:RemoveRoleFromInstanceProfile"],
    Resource: [arns(scope).serviceLinkedRole("eks*"), arns(scope).instanceProfile("eks-*")],
  },
];
