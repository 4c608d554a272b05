import { fleetTag } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { denyStatements } from "./boundary.ts";
import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";

/** The most that roles of add-ons may do: an entry of the stack's `addonPermissions`. */
export interface AddonPermission {
  /** IAM actions, e.g. `route53:ChangeResourceRecordSets`; a wildcard may stand in the name of the call, not in that of the service. */
  readonly actions: readonly string[];
  /** ARNs or patterns of ARNs; `*` for all. */
  readonly resources: readonly string[];
}

export interface AddonScope extends Scope {
  readonly fleet: string;
}

/**
 * Services with which somebody gives himself other rights. Of IAM two calls are left, which load balancers and nodes need:
 * service-linked roles have fixed policies, and a role that is passed must be a spoke's.
 */
const givesRights = [
  "account",
  "iam",
  "identitystore",
  "organizations",
  "rolesanywhere",
  "sso",
  "sso-admin",
  "sso-directory",
  "sts",
];
const harmless = ["iam:CreateServiceLinkedRole", "iam:PassRole"];

const actionPattern = /^([a-z0-9][a-z0-9-]*):([A-Za-z*]+)$/;

/** Whether a stack may name an action in `addonPermissions`. */
export function isAddonAction(action: string): boolean {
  const service = actionPattern.exec(action)?.[1];
  return service !== undefined && (!givesRights.includes(service) || harmless.includes(action));
}

/** Whether a permission passes roles that no spoke of the fleet has. */
export function passesForeignRoles({ actions, resources }: AddonPermission, fleet: string): boolean {
  const { spokePrefix } = fleetNames(fleet);
  const ofSpokes = new RegExp(`^arn:aws[-a-z]*:iam::(\\d{12}|\\*):role/${spokePrefix}`);
  return actions.includes("iam:PassRole") && !resources.every((resource) => ofSpokes.test(resource));
}

/**
 * `aws:RequestedRegion` of calls to global services such as Route 53, by partition (IAM User Guide, "AWS global condition context keys";
 * China has Route 53 in Ningxia, everything else in Beijing).
 */
const globalRegions: Readonly<Record<string, readonly string[]>> = {
  aws: ["us-east-1"],
  "aws-cn": ["cn-north-1", "cn-northwest-1"],
  "aws-us-gov": ["us-gov-west-1"],
};

/**
 * The permissions boundary of the roles that Crossplane on the hub makes for add-ons of spokes: what the stack permits, in the fleet's
 * region and for spokes only. Whatever the stack permits, it reaches neither the hub's cluster, network and load balancers nor the fleet's
 * keys and secrets; of what carries no name or tag of the fleet the stack alone decides. Git says what each role may do; only who deploys
 * the hub can widen this.
 */
export function addonBoundary(scope: AddonScope, permissions: readonly AddonPermission[]): PolicyDocument {
  const regions = [...new Set([scope.region, ...(globalRegions[scope.partition] ?? [])])];
  return policy(
    ...permissions.map(({ actions, resources }, index) => ({
      Sid: `Permitted${index}`,
      Effect: "Allow" as const,
      Action: actions,
      Resource: resources,
      Condition: { StringEquals: { "aws:RequestedRegion": regions } },
    })),
    ...denyStatements(scope),
    {
      Sid: "NotTheHubsCluster",
      Effect: "Deny",
      Action: ["eks:*"],
      Resource: [...arns(scope).clusterAndParts(fleetNames(scope.fleet).hubCluster)],
    },
    {
      Sid: "NoSecretsOfTheFleet",
      Effect: "Deny",
      Action: ["secretsmanager:*"],
      Resource: [arns(scope).secret(`${scope.fleet}/*`)],
    },
    {
      Sid: "NoKeysOfTheFleet",
      Effect: "Deny",
      Action: ["kms:*"],
      Resource: ["*"],
      Condition: { StringEquals: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
  );
}
