import { clusterTag, fleetTag } from "../labels.ts";
import { fleetNames, hubName } from "../names.ts";
import type { Scope, Statement } from "./policy.ts";

export interface SpokeNetworkScope extends Scope {
  readonly fleet: string;
  readonly spokePrefix: string;
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
function untaggedStatements(scope: SpokeNetworkScope): Statement[] {
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
export function spokeNetworkStatements(scope: SpokeNetworkScope): Statement[] {
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
    ...untaggedStatements(scope),
  ];
}
