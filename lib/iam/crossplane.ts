import { clusterTag, fleetTag, sharedNetworkTag } from "../labels.ts";
import { type crossplaneParts, fleetNames, hubName } from "../names.ts";
import { autoModePolicies } from "./auto-mode.ts";
import { clusterStatements } from "./clusters.ts";
import { managedPolicies } from "./deployer.ts";
import { ec2Actions, flowLogCalls, nodeNetworkStatements, podNetworkChanges, transitChanges } from "./ec2.ts";
import { flowLogService } from "./flow-logs.ts";
import { keyStatements } from "./keys.ts";
import { lookUpStatement } from "./look-ups.ts";
import { oidcProviderStatements } from "./oidc-providers.ts";
import {
  arns,
  inAnyPartition,
  type PolicyDocument,
  perRegion,
  policy,
  type Scope,
  type Statement,
  whereArnsDont,
} from "./policy.ts";
import {
  boundedRoleStatements,
  clusterRoleServices,
  eksRoleStatements,
  keepBoundariesStatement,
  volumeDriverPolicy,
} from "./roles.ts";
import { assumeWithTags, podIdentityService } from "./trust.ts";

export interface CrossplaneScope extends Scope {
  readonly fleet: string;
  /** DNS suffix of the partition's services: `amazonaws.com`. */
  readonly dnsSuffix: string;
  readonly spokePrefix: string;
  readonly boundaryArn: string;
  /** The OIDC provider of the hub, in the hub's account. */
  readonly hubOidcProviderArn?: string;
  /** Roles of the hub's Crossplane in other accounts, by ARN: in the hub's account. */
  readonly otherAccounts?: readonly string[];
}

/** AWS creates its service-linked role at the first attachment of an account (Amazon VPC Transit Gateways, "Service-linked roles"). */
const transitGatewayService = "transitgateway.amazonaws.com";

/** Without its Sid, which takes room: the policy pack asks for those of its exceptions alone (policies/lib/iam-exceptions.ts). */
const unnamed = ({ Sid: _, ...statement }: Statement): Statement => statement;

/** AWS managed policies that roles of spokes get, by name. No other can be attached to them. */
const spokeManagedPolicies = [
  ...new Set([managedPolicies, autoModePolicies].flatMap((policies) => Object.values(policies).flat())),
  volumeDriverPolicy,
];

/** Roles of spokes: only names under the spoke prefix, only with a boundary of the fleet. */
function roleStatements(scope: CrossplaneScope): Statement[] {
  const roles = [arns(scope).role(`${scope.spokePrefix}*`)];
  const { addonBoundaryPolicy, autoModeBoundaryPolicy } = fleetNames(scope.fleet);
  const { policy: policyArn } = arns(scope);
  // That of add-ons also while the stack permits them nothing: the roles that have it must be removable.
  const boundaries = [scope.boundaryArn, policyArn(addonBoundaryPolicy), policyArn(autoModeBoundaryPolicy)] as const;
  return [
    ...boundedRoleStatements(roles, boundaries, spokeManagedPolicies.map(arns(scope).managedPolicy)),
    {
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: roles,
      Condition: {
        StringEquals: { "iam:PassedToService": [...clusterRoleServices(scope), flowLogService, podIdentityService] },
      },
    },
    unnamed(keepBoundariesStatement),
  ];
}

/** Keys that encrypt the Kubernetes secrets of spokes. */
function spokeKeyStatements(scope: CrossplaneScope): Statement[] {
  return [
    ...keyStatements(scope),
    {
      Sid: "SpokeKeyAliases",
      Effect: "Allow",
      Action: ["kms:*Alias"],
      Resource: [arns(scope).kmsAlias(`alias/${scope.spokePrefix}*`)],
    },
  ];
}

/**
 * What interface endpoints need beside other endpoints. They join security groups of their own VPC only, the default one and the cluster's, none of which has
 * the fleet's tag, and change nothing of what these allow. Where one takes over the name of its service, EC2 has the VPC join a zone of AWS's own account with
 * the caller's rights (Service Authorization Reference, "Amazon EC2", dependent actions of CreateVpcEndpoint): Route 53 knows no tag to ask for, and nobody the zone.
 */
const interfaceEndpointStatements: readonly Statement[] = [
  {
    Sid: "JoinGroups",
    Effect: "Allow",
    Action: ec2Actions(["*VpcEndpoint"]),
    Resource: ["arn:*:ec2:*:*:security-group/*"],
  },
  { Sid: "PrivateNames", Effect: "Allow", Action: ["route53:AssociateVPCWithHostedZone"], Resource: ["*"] },
];

/**
 * EC2 creates the default security group with a VPC, without a tag, and no key of its VPC's tags exists. The provider tags it, then removes its
 * rules. EKS's groups have a tag of EKS and are out of reach.
 */
const defaultGroupStatement = (scope: CrossplaneScope): Statement => ({
  Sid: "DefaultGroups",
  Effect: "Allow",
  Action: ec2Actions(["CreateTags"]),
  Resource: arns(scope).ec2("security-group"),
  Condition: {
    StringEquals: { "aws:RequestedRegion": perRegion(scope), [`aws:RequestTag/${fleetTag}`]: scope.fleet },
    Null: { [`aws:ResourceTag/${fleetTag}`]: "true", "aws:ResourceTag/aws:eks:cluster-name": "true" },
  },
});

/** The route tables of a gateway in its own account, which the provider reads (terraform-provider-aws, internal/service/ec2/transitgateway_vpc_attachment.go). */
const transitLookUps = ec2Actions([
  "GetTransitGatewayRouteTableAssociations",
  "GetTransitGatewayRouteTablePropagations",
]);

/**
 * What attachments need of a transit gateway, which belongs to the company. In the spokes' account its owner permits them by the tag of shared networks. Of a
 * gateway in another account the tags are unknown here: there AWS RAM and the acceptance of the attachment decide.
 */
function transitGatewayStatements(scope: CrossplaneScope): Statement[] {
  const attach = { Action: ec2Actions(["CreateTransitGatewayVpcAttachment"]) };
  return [
    { Sid: "AttachToGateways", Effect: "Allow", ...attach, Resource: ["arn:*:ec2:*:*:transit-gateway/*"] },
    {
      Effect: "Deny",
      ...attach,
      Resource: [`arn:*:ec2:*:${scope.accountId}:transit-gateway/*`],
      Condition: { StringNotEquals: { [`aws:ResourceTag/${sharedNetworkTag}`]: scope.fleet } },
    },
  ];
}

/** The hub's own provider carries the fleet's tag too. */
const hubProviderStatements = ({ hubOidcProviderArn: arn }: CrossplaneScope): Statement[] =>
  arn === undefined
    ? []
    : [{ Sid: "NotTheHubsProvider", Effect: "Deny", Action: ["iam:*OpenIDConnectProvider*"], Resource: [arn] }];

/** The roles of other accounts, and no others; each trusts this one by name (`roleTrust`). */
const otherAccountStatements = ({ otherAccounts = [] }: CrossplaneScope): Statement[] =>
  otherAccounts.length === 0
    ? []
    : [{ Sid: "OtherAccounts", Effect: "Allow", Action: assumeWithTags, Resource: otherAccounts }];

/** The policy in the role, and managed policies of the role. */
type CrossplanePart = "clusters" | (typeof crossplaneParts)[number];

/**
 * Everything that Crossplane's AWS provider on the hub may do in an account: what a Spoke is composed of, in the fleet's territory. In the
 * hub's account its own role has these rights, in another one a role that it assumes. IAM has no room for all of it in one policy
 * (docs/decisions/0014-crossplane-has-three-policies.md): each part has the denials that its own rights need.
 */
export function crossplanePolicies(scope: CrossplaneScope): Readonly<Record<CrossplanePart, PolicyDocument>> {
  // ARNs leave out the partition where that takes less room: an account has only one.
  const anywhere = inAnyPartition(scope);
  return {
    clusters: policy(
      lookUpStatement(scope, transitLookUps),
      ...clusterStatements(anywhere, `${scope.spokePrefix}*`, ["*PodIdentityAssociation"]),
      ...interfaceEndpointStatements,
      ...nodeNetworkStatements(anywhere, {
        ...flowLogCalls,
        joins: { CreateTransitGatewayVpcAttachment: "transit-gateway-attachment" },
        changes: [...flowLogCalls.changes, ...podNetworkChanges, ...transitChanges, "RevokeSecurityGroup*"],
      }),
      defaultGroupStatement(anywhere),
      ...transitGatewayStatements(scope),
      ...spokeKeyStatements(scope),
      {
        // The hub's networks and keys carry the fleet's tag too.
        Effect: "Deny",
        Action: ["ec2:*", "kms:*"],
        Resource: ["*"],
        Condition: { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } },
      },
      {
        // EKS makes the hub's security group without the fleet's tags.
        Effect: "Deny",
        Action: ["ec2:*"],
        Resource: ["*"],
        Condition: { StringEquals: { "aws:ResourceTag/aws:eks:cluster-name": fleetNames(scope.fleet).hubCluster } },
      },
      // Not STS: the provider asks for the role of another account in the region of what it makes there.
      ...whereArnsDont(scope, ["ec2", "eks", "kms", "logs"]).map(unnamed),
    ),
    roles: policy(
      ...roleStatements(scope),
      ...eksRoleStatements(scope, [transitGatewayService]).map(unnamed),
      ...otherAccountStatements(scope),
    ),
    "oidc-providers": policy(...oidcProviderStatements(scope), ...hubProviderStatements(scope)),
  };
}
