import { clusterTag, fleetTag, sharedNetworkTag } from "../labels.ts";
import { type CrossplaneService, type crossplaneParts, fleetNames, hubName } from "../names.ts";
import { autoModePolicies } from "./auto-mode.ts";
import { apiRuleStatement, eksStatement, logGroupStatement } from "./clusters.ts";
import { managedPolicies } from "./deployer.ts";
import {
  ec2Actions,
  flowLogCalls,
  nodeStatements,
  podNetworkChanges,
  templateNetworkStatements,
  transitChanges,
} from "./ec2.ts";
import { flowLogService } from "./flow-logs.ts";
import { grantKeysStatement, keyStatements } from "./keys.ts";
import { lookUpStatement, lookUps } from "./look-ups.ts";
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
  eksLinkedRolesStatement,
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
  /** Roles of the hub's Crossplane in other accounts, by ARN. */
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

/** Roles of spokes: only names under the spoke prefix. */
const spokeRoles = (scope: CrossplaneScope): string => arns(scope).role(`${scope.spokePrefix}*`);

/** The life of these roles, only with a boundary of the fleet. */
function roleStatements(scope: CrossplaneScope): Statement[] {
  const { addonBoundaryPolicy, autoModeBoundaryPolicy } = fleetNames(scope.fleet);
  const { policy: policyArn } = arns(scope);
  // That of add-ons also while the stack permits them nothing: the roles that have it must be removable.
  const boundaries = [scope.boundaryArn, policyArn(addonBoundaryPolicy), policyArn(autoModeBoundaryPolicy)] as const;
  return [
    ...boundedRoleStatements([spokeRoles(scope)], boundaries, spokeManagedPolicies.map(arns(scope).managedPolicy)),
    unnamed(keepBoundariesStatement),
  ];
}

/** EKS leaves the instance profile of nodes behind, from which the provider takes their role before it deletes it (eksRoleStatements). */
const instanceProfileStatement = (scope: CrossplaneScope): Statement => ({
  Effect: "Allow",
  Action: ["iam:RemoveRoleFromInstanceProfile"],
  Resource: [arns(scope).instanceProfile("eks-*")],
});

const passStatement = (scope: CrossplaneScope, services: readonly string[]): Statement => ({
  Effect: "Allow",
  Action: ["iam:PassRole"],
  Resource: [spokeRoles(scope)],
  Condition: { StringEquals: { "iam:PassedToService": services } },
});

/** Keys that encrypt the Kubernetes secrets of spokes. */
const spokeKeyStatements = (scope: CrossplaneScope): Statement[] => [
  ...keyStatements(scope),
  {
    Sid: "SpokeKeyAliases",
    Effect: "Allow",
    Action: ["kms:*Alias"],
    Resource: [arns(scope).kmsAlias(`alias/${scope.spokePrefix}*`)],
  },
];

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

/** The roles of other accounts, and no others; each trusts the providers' roles by name (`roleTrust`). */
const otherAccountStatements = ({ otherAccounts = [] }: CrossplaneScope): Statement[] =>
  otherAccounts.length === 0
    ? []
    : [{ Sid: "OtherAccounts", Effect: "Allow", Action: assumeWithTags, Resource: otherAccounts }];

/** What of the hub no provider reaches, although its networks and keys carry the fleet's tag too, and no region that has no spokes. */
const denials = (scope: CrossplaneScope): Statement[] => [
  {
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
];

function ec2Statements(scope: CrossplaneScope): Statement[] {
  return [
    apiRuleStatement(scope, `${scope.spokePrefix}*`),
    ...interfaceEndpointStatements,
    ...templateNetworkStatements(scope, {
      ...flowLogCalls,
      joins: { CreateTransitGatewayVpcAttachment: "transit-gateway-attachment" },
      changes: [...flowLogCalls.changes, ...podNetworkChanges, ...transitChanges, "RevokeSecurityGroup*"],
    }),
    defaultGroupStatement(scope),
    ...transitGatewayStatements(scope),
    {
      Effect: "Allow",
      Action: ["iam:CreateServiceLinkedRole"],
      Resource: [arns(scope).serviceLinkedRole(`${transitGatewayService}/*`)],
      Condition: { StringEquals: { "iam:AWSServiceName": transitGatewayService } },
    },
    passStatement(scope, [flowLogService]),
  ];
}

/** Clusters, and what EKS does with the caller's rights for them: it reads and passes roles, uses launch templates and grants itself keys. */
function eksStatements(scope: CrossplaneScope): Statement[] {
  return [
    eksStatement(scope, `${scope.spokePrefix}*`, ["*PodIdentityAssociation"]),
    ...nodeStatements(scope),
    grantKeysStatement(scope),
    { Sid: "ReadKeysOfClusters", Effect: "Allow", Action: ["kms:DescribeKey"], Resource: [arns(scope).kmsKey("*")] },
    unnamed(eksLinkedRolesStatement(scope)),
    {
      Effect: "Allow",
      Action: ["iam:GetRole", "iam:ListAttachedRolePolicies"],
      Resource: [spokeRoles(scope), arns(scope).serviceLinkedRole("eks*")],
    },
    passStatement(scope, [...clusterRoleServices(scope), podIdentityService]),
  ];
}

/**
 * What each of Crossplane's AWS providers on the hub needs, besides what it looks up: the kinds of its service that a Spoke is composed of, in
 * the fleet's territory.
 */
function statementsOf(scope: CrossplaneScope) {
  // ARNs leave out the partition where that takes less room: an account has only one.
  const anywhere = inAnyPartition(scope);
  return {
    ec2: [...ec2Statements(anywhere), ...denials(scope)],
    eks: [...eksStatements(anywhere), ...denials(scope)],
    iam: [...roleStatements(scope), instanceProfileStatement(anywhere)],
    kms: [...spokeKeyStatements(scope), ...denials(scope)],
    logs: [logGroupStatement(anywhere, `${scope.spokePrefix}*`), ...denials(scope)],
    "oidc-providers": [...oidcProviderStatements(scope), ...hubProviderStatements(scope)],
  };
}

const once = (statements: readonly Statement[]): Statement[] => [
  ...new Map(statements.map((statement) => [JSON.stringify(statement), statement])).values(),
];

/** What each of Crossplane's AWS providers on the hub may do in the hub's account, by its service: it has a role of its own. */
export function providerPolicies(scope: CrossplaneScope): Readonly<Record<CrossplaneService, PolicyDocument>> {
  const { iam, "oidc-providers": oidcProviders, ...others } = statementsOf(scope);
  const also = otherAccountStatements(scope);
  const networks = lookUps.filter((action) => action.startsWith("ec2:"));
  const of = (service: keyof typeof others, ...more: readonly string[]) => {
    const own = lookUps.filter((action) => action.startsWith(`${service}:`));
    return policy(lookUpStatement(scope, [...own, ...more]), ...others[service], ...also);
  };
  return {
    ec2: of("ec2", ...transitLookUps),
    eks: of("eks", ...networks),
    iam: policy(...iam, ...oidcProviders, ...also),
    kms: of("kms"),
    logs: of("logs"),
  };
}

/** The policy in a role, and managed policies of the role. */
type CrossplanePart = "clusters" | (typeof crossplaneParts)[number];

/**
 * What they may do in another account, together: its ClusterProviderConfig names one role, which all of them assume. IAM has no room for
 * it in one policy (docs/decisions/0014-a-role-for-each-provider.md).
 */
export function crossplanePolicies(scope: CrossplaneScope): Readonly<Record<CrossplanePart, PolicyDocument>> {
  const { ec2, eks, kms, logs, iam, "oidc-providers": oidcProviders } = statementsOf(scope);
  return {
    clusters: policy(
      lookUpStatement(scope, [...lookUps, ...transitLookUps]),
      ...once([...ec2, ...eks, ...kms, ...logs]),
    ),
    roles: policy(...iam),
    "oidc-providers": policy(...oidcProviders),
  };
}
