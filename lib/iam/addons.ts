import { fleetTag } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { denyStatements, notOfOtherClusters } from "./boundary.ts";
import { arns, noPath, onlyInRegions, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { ownKeysInBoundary, type VolumeKeys, volumeKeyStatement } from "./volume-key.ts";

/** The most that roles of add-ons may do: an entry of the stack's `addonPermissions`. */
export interface AddonPermission {
  /** IAM actions, e.g. `route53:ChangeResourceRecordSets`; a wildcard may stand in the name of the call, not in that of the service. */
  readonly actions: readonly string[];
  /** ARNs or patterns of ARNs; `*` for all. */
  readonly resources: readonly string[];
}

export interface AddonScope extends Scope, VolumeKeys {
  readonly fleet: string;
}

/**
 * Services with which somebody gives himself other rights. Of IAM those calls are left which load balancers and nodes need:
 * service-linked roles have fixed policies, and roles and instance profiles must be a spoke's ({@link reachesOthersIam}).
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
/** What must be a spoke's. A role gets into an instance profile only by who may pass it (IAM API Reference, AddRoleToInstanceProfile). */
const ofSpokesOnly = [
  "iam:AddRoleToInstanceProfile",
  "iam:CreateInstanceProfile",
  "iam:DeleteInstanceProfile",
  "iam:PassRole",
  "iam:RemoveRoleFromInstanceProfile",
  "iam:TagInstanceProfile",
];
/** Calls of IAM that a stack may permit add-ons. */
export const addonIamActions: readonly string[] = [
  "iam:CreateServiceLinkedRole",
  "iam:GetInstanceProfile",
  "iam:ListInstanceProfiles",
  ...ofSpokesOnly,
];

const actionPattern = /^([a-z0-9][a-z0-9-]*):([A-Za-z*]+)$/;

/** Whether a stack may name an action in `addonPermissions`. */
export function isAddonAction(action: string): boolean {
  const service = actionPattern.exec(action)?.[1];
  return service !== undefined && (!givesRights.includes(service) || addonIamActions.includes(action));
}

/**
 * Whether a permission passes roles, or changes instance profiles, that belong to no spoke of the fleet. Karpenter's profiles have the
 * path `/karpenter/<region>/<cluster>/` (aws/karpenter-provider-aws, pkg/providers/instanceprofile).
 */
export function reachesOthersIam(
  { actions, resources }: AddonPermission,
  fleet: string,
  rolePath: string = noPath,
): boolean {
  const { spokePrefix } = fleetNames(fleet);
  const profile = new RegExp(`^instance-profile/karpenter/[^/]+/${spokePrefix}`);
  const isOfSpoke = (resource: string) => {
    const name = /^arn:aws[-a-z]*:iam::(?:\d{12}|\*):(.+)$/.exec(resource)?.[1] ?? "";
    return name.startsWith(`role${rolePath}${spokePrefix}`) || profile.test(name);
  };
  return actions.some((action) => ofSpokesOnly.includes(action)) && !resources.every(isOfSpoke);
}

/**
 * The permissions boundary of the roles that Crossplane on the hub makes for add-ons of spokes: what the stack permits, and EBS's default
 * key and a company's own, in the fleet's region and for spokes only. Whatever the stack permits, it reaches neither the hub's cluster, network and load
 * balancers nor the fleet's keys and secrets; of what carries no name or tag of the fleet the stack alone decides. Git says what each role
 * may do; only who deploys the hub can widen this.
 */
export function addonBoundary(scope: AddonScope, permissions: readonly AddonPermission[]): PolicyDocument {
  return policy(
    ...permissions.map(({ actions, resources }, index) => ({
      Sid: `Permitted${index}`,
      Effect: "Allow" as const,
      Action: actions,
      Resource: resources,
    })),
    // For what restores volumes (Velero). To permit it through `addonPermissions`, which has no conditions, would open every key.
    volumeKeyStatement(scope),
    ...ownKeysInBoundary(scope, ["kms:DescribeKey"]),
    // Once, and not as a condition of each permission: a policy has little room.
    onlyInRegions(scope),
    ...denyStatements(scope),
    notOfOtherClusters,
    {
      Sid: "NotTheHubsCluster",
      Effect: "Deny",
      Action: ["eks:*"],
      Resource: arns(scope).clusterAndEverythingOf(fleetNames(scope.fleet).hubCluster),
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
