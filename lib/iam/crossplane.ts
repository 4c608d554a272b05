import { clusterTag, fleetTag } from "../labels.ts";
import { fleetNames, hubName } from "../names.ts";
import { clusterStatements } from "./clusters.ts";
import { createKeyStatements } from "./keys.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";
import {
  boundedRoleStatements,
  clusterRoleServices,
  keepBoundaryStatements,
  serviceLinkedRoleStatements,
} from "./roles.ts";

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

/**
 * What makes network resources and connects them, and calls that also name resources without tags of ours, such as a NAT gateway's
 * interface. Which resources of these need the tag nevertheless says {@link untaggedStatements}.
 */
const networkMakers = [
  ...["InternetGateway", "LaunchTemplate", "NatGateway", "Route", "RouteTable", "SecurityGroup", "Subnet"].map(
    (kind) => `ec2:Create${kind}`,
  ),
  "ec2:AllocateAddress",
  "ec2:AssociateRouteTable",
  "ec2:AttachInternetGateway",
  "ec2:AuthorizeSecurityGroup*",
  "ec2:CreateLaunchTemplateVersion",
  "ec2:CreateTags",
  "ec2:CreateVpc",
  "ec2:CreateVpcEndpoint",
  "ec2:DeleteLaunchTemplate",
  "ec2:DeleteNatGateway",
  "ec2:DeleteTags",
  "ec2:DisassociateAddress",
  "ec2:DisassociateRouteTable",
  "ec2:ModifyLaunchTemplate",
  "ec2:ModifyVpcEndpoint",
  "ec2:RunInstances",
];

/** What changes or removes network resources: the composition function tags all that it makes, so these ask for the tag. */
const networkChangers = [
  "ec2:DeleteInternetGateway",
  "ec2:DeleteNetworkInterface",
  "ec2:DeleteRoute",
  "ec2:DeleteRouteTable",
  "ec2:DeleteSecurityGroup",
  "ec2:DeleteSubnet",
  "ec2:DeleteVpc",
  "ec2:DeleteVpcEndpoints",
  "ec2:DetachInternetGateway",
  "ec2:DetachNetworkInterface",
  "ec2:ModifySubnetAttribute",
  "ec2:ModifyVpcAttribute",
  "ec2:ReleaseAddress",
  "ec2:ReplaceRoute*",
  "ec2:RevokeSecurityGroup*",
];

/** Resources without the fleet's tag are neither changed by a call that names others too, nor taken into the fleet by a tag. */
function untaggedStatements(scope: CrossplaneScope): Statement[] {
  const name = (kind: string) => `arn:${scope.partition}:ec2:${scope.region}:${scope.accountId}:${kind}/*`;
  const ofFleet = { [`aws:ResourceTag/${fleetTag}`]: scope.fleet };
  return [
    {
      Sid: "NotWithoutTheFleetsTag",
      Effect: "Deny",
      Action: [
        "ec2:DeleteLaunchTemplate",
        "ec2:DeleteNatGateway",
        "ec2:DisassociateRouteTable",
        "ec2:ModifyLaunchTemplate",
        "ec2:ModifyVpcEndpoint",
      ],
      Resource: ["launch-template", "natgateway", "route-table", "vpc-endpoint"].map(name),
      Condition: { StringNotEquals: ofFleet },
    },
    {
      Sid: "NoTagsOnResourcesOfOthers",
      Effect: "Deny",
      Action: ["ec2:CreateTags", "ec2:DeleteTags"],
      Resource: [name("*")],
      // Tags that come with a call that makes the resource name that call.
      Condition: { StringNotEquals: ofFleet, Null: { "ec2:CreateAction": "true" } },
    },
  ];
}

/** Network resources in the hub's region, except what carries another fleet's tag or is the hub's own. */
function networkStatements(scope: CrossplaneScope): Statement[] {
  const inRegion = { "aws:RequestedRegion": scope.region };
  const ofFleet = { [`aws:ResourceTag/${fleetTag}`]: scope.fleet };
  return [
    {
      Sid: "DescribeNetwork",
      Effect: "Allow",
      Action: ["ec2:Describe*"],
      Resource: ["*"],
      Condition: { StringEquals: inRegion },
    },
    {
      Sid: "MakeNetworks",
      Effect: "Allow",
      Action: networkMakers,
      Resource: ["*"],
      Condition: { StringEquals: inRegion, StringEqualsIfExists: ofFleet },
    },
    {
      Sid: "ChangeNetworksOfTheFleet",
      Effect: "Allow",
      Action: networkChangers,
      Resource: ["*"],
      Condition: { StringEquals: { ...inRegion, ...ofFleet } },
    },
    {
      // Interfaces that the VPC CNI left behind keep a subnet from being deleted. They carry its tag, not ours.
      Sid: "InterfacesOfSpokeNodes",
      Effect: "Allow",
      Action: ["ec2:DeleteNetworkInterface", "ec2:DetachNetworkInterface"],
      Resource: ["*"],
      Condition: {
        StringEquals: inRegion,
        StringLike: { "aws:ResourceTag/cluster.k8s.amazonaws.com/name": `${scope.spokePrefix}*` },
      },
    },
    {
      Sid: "NotTheHubsNetwork",
      Effect: "Deny",
      Action: [...networkMakers, ...networkChangers],
      Resource: ["*"],
      Condition: { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } },
    },
    {
      Sid: "NotTheHubsSecurityGroup",
      Effect: "Deny",
      Action: [
        "ec2:AuthorizeSecurityGroup*",
        "ec2:CreateTags",
        "ec2:DeleteSecurityGroup",
        "ec2:DeleteTags",
        "ec2:RevokeSecurityGroup*",
      ],
      Resource: ["*"],
      // EKS makes the cluster's security group, with this tag and without ours (EKS User Guide, "Security group requirements").
      Condition: { StringEquals: { "aws:ResourceTag/aws:eks:cluster-name": fleetNames(scope.fleet).hubCluster } },
    },
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
    ...networkStatements(scope),
    ...untaggedStatements(scope),
    ...keyStatements(scope),
    ...serviceLinkedRoleStatements(scope, ["eks*.amazonaws.com", "elasticloadbalancing.amazonaws.com"]),
  );
}
