import { arns, type PolicyDocument } from "../../../lib/iam/policy.ts";
import { identityTag } from "../../../lib/labels.ts";
import type { Context } from "../context.ts";
import type { Group } from "../groups.ts";

export interface RoleArgs {
  /** Groups of the role and of its policies. */
  readonly groups: readonly [role: Group, policies: Group];
  /** Suffix of the keys, and the tag that the boundary knows the role by. */
  readonly key: string;
  readonly roleName: string;
  readonly description: string;
  /** Who may assume it; undefined while that is not known. */
  readonly trust: PolicyDocument | undefined;
  /** AWS managed policies, by name. */
  readonly managedPolicies: readonly string[];
  readonly inlinePolicy?: PolicyDocument;
}

/** Keys of what must be ready before somebody can use the role. */
export function roleKeys({ key, managedPolicies, inlinePolicy }: RoleArgs): readonly string[] {
  return [
    `role-${key}`,
    ...managedPolicies.map((name) => `attachment-${key}-${slug(name)}`),
    ...(inlinePolicy ? [`policy-${key}`] : []),
  ];
}

const slug = (policyName: string): string => policyName.replace(/^.*\//, "").toLowerCase().replaceAll("_", "-");

/** An IAM role under the fleet's boundary, and its policies. */
export function composeRole(context: Context, args: RoleArgs): void {
  const { composer, observed, permissionsBoundary, scope, tags } = context;
  const { groups, key, roleName, description, trust, managedPolicies, inlinePolicy } = args;
  composer.managed(groups[0], `role-${key}`, "Role", { trust }, (known) => ({
    externalName: roleName,
    forProvider: {
      description,
      assumeRolePolicy: JSON.stringify(known.trust),
      permissionsBoundary,
      tags: { ...tags(), [identityTag]: key },
    },
  }));
  const made = { role: observed.allReady([`role-${key}`]) };
  for (const name of managedPolicies) {
    composer.managed(groups[1], `attachment-${key}-${slug(name)}`, "RolePolicyAttachment", made, () => ({
      forProvider: { role: roleName, policyArn: arns(scope).managedPolicy(name) },
    }));
  }
  if (inlinePolicy === undefined) return;
  composer.managed(groups[1], `policy-${key}`, "RolePolicy", made, () => ({
    externalName: roleName,
    forProvider: { role: roleName, policy: JSON.stringify(inlinePolicy) },
  }));
}
