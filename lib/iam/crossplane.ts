import { clusterTag } from "../labels.ts";
import { fleetNames, hubName } from "../names.ts";
import { clusterStatements } from "./clusters.ts";
import { managedPolicies } from "./deployer.ts";
import { flowLogCalls, nodeNetworkStatements } from "./ec2.ts";
import { flowLogService } from "./flow-logs.ts";
import { keyStatements } from "./keys.ts";
import { lookUpStatement } from "./look-ups.ts";
import { oidcProviderStatements } from "./oidc-providers.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement, whereArnsDont } from "./policy.ts";
import {
  boundedRoleStatements,
  clusterRoleServices,
  eksRoleStatements,
  keepBoundariesStatement,
  volumeDriverPolicy,
} from "./roles.ts";
import { podIdentityService } from "./trust.ts";

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

/** AWS managed policies that roles of spokes get, by name. No other can be attached to them. */
const spokeManagedPolicies = [...managedPolicies.cluster, ...managedPolicies.node, volumeDriverPolicy];

/** Roles of spokes: only names under the spoke prefix, only with a boundary of the fleet. */
function roleStatements(scope: CrossplaneScope): Statement[] {
  const roles = [arns(scope).role(`${scope.spokePrefix}*`)];
  // The second one also while the stack permits add-ons nothing: the roles that have it must be removable.
  const boundaries = [scope.boundaryArn, arns(scope).policy(fleetNames(scope.fleet).addonBoundaryPolicy)] as const;
  return [
    ...boundedRoleStatements(roles, boundaries, spokeManagedPolicies.map(arns(scope).managedPolicy)),
    {
      Sid: "PassRoles",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: roles,
      Condition: {
        StringEquals: { "iam:PassedToService": [...clusterRoleServices(scope), flowLogService, podIdentityService] },
      },
    },
    keepBoundariesStatement,
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

/** The hub's own provider carries the fleet's tag too. */
const hubProviderStatements = ({ hubOidcProviderArn: arn }: CrossplaneScope): Statement[] =>
  arn === undefined
    ? []
    : [{ Sid: "NotTheHubsProvider", Effect: "Deny", Action: ["iam:*OpenIDConnectProvider*"], Resource: [arn] }];

/** The roles of other accounts, and no others; each trusts this one by name (`roleTrust`). */
const otherAccountStatements = ({ otherAccounts = [] }: CrossplaneScope): Statement[] =>
  otherAccounts.length === 0
    ? []
    : [{ Sid: "OtherAccounts", Effect: "Allow", Action: ["sts:AssumeRole"], Resource: otherAccounts }];

/**
 * Everything that Crossplane's AWS provider on the hub may do in an account: what a Spoke is composed of, in the fleet's territory. In the
 * hub's account its own role has these rights, in another one a role that it assumes.
 */
export function crossplanePolicy(scope: CrossplaneScope): PolicyDocument {
  return policy(
    ...roleStatements(scope),
    ...oidcProviderStatements(scope),
    ...hubProviderStatements(scope),
    lookUpStatement(scope),
    ...clusterStatements(scope, `${scope.spokePrefix}*`, ["*PodIdentityAssociation"]),
    ...nodeNetworkStatements(scope, flowLogCalls),
    ...spokeKeyStatements(scope),
    ...eksRoleStatements(scope),
    {
      // The hub's networks and keys carry the fleet's tag too.
      Sid: "NothingOfTheHub",
      Effect: "Deny",
      Action: ["ec2:*", "kms:*"],
      Resource: ["*"],
      Condition: { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: hubName } },
    },
    ...otherAccountStatements(scope),
    // Not STS: the provider asks for the role of another account in the region of what it makes there.
    ...whereArnsDont(scope, ["ec2", "eks", "kms", "logs"]),
  );
}
