import { arns, type PolicyDocument } from "../../../lib/iam/policy.ts";
import { identityTag, type Tags } from "../../../lib/labels.ts";
import type { Context } from "../context.ts";
import { fact } from "../facts.ts";
import { type Resource, type RoleName, resources } from "../resources.ts";

export interface RoleArgs {
  /** Also the value of the tag by which the boundary recognizes the role. */
  readonly role: RoleName;
  readonly roleName: string;
  readonly description: string;
  /** Who may assume it; undefined while that is not known. */
  readonly trust: PolicyDocument | undefined;
  /** AWS managed policies, by name. */
  readonly managedPolicies: readonly string[];
  readonly inlinePolicy?: PolicyDocument;
  /** Tags besides those of everything that the spoke is made of. */
  readonly tags?: Tags;
  /** Default: the fleet's boundary. */
  readonly boundary?: string;
}

/** What must be ready before somebody can use the role. */
export function roleResources({ role, managedPolicies, inlinePolicy }: RoleArgs): readonly [Resource, ...Resource[]] {
  return [
    resources.role(role),
    ...managedPolicies.map((policy) => resources.attachment(role, policy)),
    ...(inlinePolicy ? [resources.rolePolicy(role)] : []),
  ];
}

/** An IAM role under a boundary of the fleet, and its policies. */
export function composeRole(context: Context, args: RoleArgs): void {
  const { composer, facts, scope, tags } = context;
  const { role, roleName, description, trust, managedPolicies, inlinePolicy } = args;
  const { boundary: permissionsBoundary = context.permissionsBoundary } = args;
  const resource = resources.role(role);
  composer.managed(resource, "Role", { trust: fact("identities", trust) }, (known) => ({
    externalName: roleName,
    forProvider: {
      description,
      assumeRolePolicy: JSON.stringify(known.trust),
      permissionsBoundary,
      tags: { ...tags(), [identityTag]: role, ...args.tags },
    },
  }));
  const made = { role: facts.ready(resource) };
  for (const policy of managedPolicies) {
    composer.managed(resources.attachment(role, policy), "RolePolicyAttachment", made, () => ({
      forProvider: { role: roleName, policyArn: arns(scope).managedPolicy(policy) },
    }));
  }
  if (inlinePolicy === undefined) return;
  composer.managed(resources.rolePolicy(role), "RolePolicy", made, () => ({
    externalName: roleName,
    forProvider: { role: roleName, policy: JSON.stringify(inlinePolicy) },
  }));
}
