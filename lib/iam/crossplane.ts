import { clusterTag, fleetTag } from "../labels.ts";
import { hubName } from "../names.ts";
import { clusterStatements } from "./clusters.ts";
import { createKeyStatements } from "./keys.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import {
  boundedRoleStatements,
  clusterRoleServices,
  keepBoundaryStatements,
  serviceLinkedRoleStatements,
} from "./roles.ts";
import { spokeNetworkStatements } from "./spoke-networks.ts";

export interface CrossplaneScope extends Scope {
  readonly fleet: string;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: string;
  readonly spokePrefix: string;
  readonly boundaryArn: string;
  readonly tenantBoundaryArn: string;
  readonly hubOidcProviderArn: string;
}

/** Roles of spokes: only names under the spoke prefix, only with the fleet's boundary. */
function roleStatements(scope: CrossplaneScope): Statement[] {
  const roles = [arns(scope).role(`${scope.spokePrefix}*`)];
  return [
    ...boundedRoleStatements(roles, scope.boundaryArn),
    {
      Sid: "PassRolesUnderPrefix",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: roles,
      Condition: { StringEquals: { "iam:PassedToService": clusterRoleServices(scope) } },
    },
    ...keepBoundaryStatements([scope.boundaryArn, scope.tenantBoundaryArn]),
  ];
}

/** IAM OIDC providers of EKS clusters, except the hub's own. */
function oidcStatements(scope: CrossplaneScope): Statement[] {
  const write = [
    "iam:AddClientIDToOpenIDConnectProvider",
    "iam:CreateOpenIDConnectProvider",
    "iam:DeleteOpenIDConnectProvider",
    "iam:RemoveClientIDFromOpenIDConnectProvider",
    "iam:TagOpenIDConnectProvider",
    "iam:UntagOpenIDConnectProvider",
    "iam:UpdateOpenIDConnectProviderThumbprint",
  ];
  return [
    {
      Sid: "OidcProviders",
      Effect: "Allow",
      Action: [...write, "iam:GetOpenIDConnectProvider", "iam:ListOpenIDConnectProviderTags"],
      Resource: arns(scope).eksOidcProviders,
      // Other fleets' are out of reach.
      Condition: { StringEqualsIfExists: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
    { Sid: "NotTheHubsOidcProvider", Effect: "Deny", Action: write, Resource: [scope.hubOidcProviderArn] },
  ];
}

/** Keys that encrypt the Kubernetes secrets of spokes: made with the fleet's tag, managed by it. */
function keyStatements(scope: CrossplaneScope): Statement[] {
  return [
    ...createKeyStatements(scope.fleet),
    {
      Sid: "SpokeKeys",
      Effect: "Allow",
      Action: [
        "kms:CancelKeyDeletion",
        "kms:CreateAlias",
        "kms:CreateGrant",
        "kms:DeleteAlias",
        "kms:DescribeKey",
        "kms:EnableKeyRotation",
        "kms:GetKeyPolicy",
        "kms:GetKeyRotationStatus",
        "kms:ListGrants",
        "kms:ListResourceTags",
        "kms:PutKeyPolicy",
        "kms:ScheduleKeyDeletion",
        "kms:TagResource",
        "kms:UntagResource",
        "kms:UpdateAlias",
        "kms:UpdateKeyDescription",
      ],
      Resource: [arns(scope).kmsKey("*")],
      Condition: { StringEquals: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
    {
      Sid: "SpokeKeyAliases",
      Effect: "Allow",
      Action: ["kms:CreateAlias", "kms:DeleteAlias", "kms:UpdateAlias"],
      Resource: [arns(scope).kmsAlias(`alias/${scope.spokePrefix}*`)],
    },
    { Sid: "FindKeyAliases", Effect: "Allow", Action: ["kms:ListAliases"], Resource: ["*"] },
    {
      Sid: "NotTheHubsKeys",
      Effect: "Deny",
      Action: [
        "kms:CreateAlias",
        "kms:CreateGrant",
        "kms:DeleteAlias",
        "kms:PutKeyPolicy",
        "kms:ScheduleKeyDeletion",
        "kms:TagResource",
        "kms:UntagResource",
      ],
      Resource: ["*"],
      Condition: { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } },
    },
  ];
}

/** Everything that Crossplane's AWS provider on the hub may do: what a Spoke is composed of, in the fleet's territory. */
export function crossplanePolicy(scope: CrossplaneScope): PolicyDocument {
  return policy(
    ...roleStatements(scope),
    ...oidcStatements(scope),
    ...clusterStatements(scope, `${scope.spokePrefix}*`),
    ...spokeNetworkStatements(scope),
    ...keyStatements(scope),
    ...serviceLinkedRoleStatements(scope, ["eks*.amazonaws.com", "elasticloadbalancing.amazonaws.com"]),
  );
}
