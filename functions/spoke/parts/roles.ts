import { arns, noPath, type PolicyDocument } from "../../../lib/iam/policy.ts";
import { accountsOf, podIdentityService, type RoleSubject, type ServiceAccountRef } from "../../../lib/iam/trust.ts";
import { identityTag, type Tags } from "../../../lib/labels.ts";
import type { Context } from "../context.ts";
import { fact } from "../facts.ts";
import { at } from "../kube.ts";
import { type Resource, type RoleName, resources } from "../resources.ts";

export interface RoleArgs {
  /** Also the value of the tag by which the boundary recognizes the role. */
  readonly role: RoleName;
  readonly roleName: string;
  readonly description: string;
  /** Who may assume it; undefined while that is not known. */
  readonly trust: PolicyDocument | undefined;
  /** The service accounts whose pods get it by EKS Pod Identity; undefined where they don't. */
  readonly pods?: RoleSubject | undefined;
  /** AWS managed policies, by name. */
  readonly managedPolicies: readonly string[];
  readonly inlinePolicy?: PolicyDocument;
  /** Tags besides those of everything that the spoke is made of. */
  readonly tags?: Tags;
  /** Default: the fleet's boundary. */
  readonly boundary?: string;
}

interface Association {
  readonly resource: Resource;
  /** Also the value of its tag, by which `fleet adopt` recognizes it. */
  readonly name: string;
  readonly account: ServiceAccountRef;
}

/** The associations that give the role to pods. */
export function associationsOf({ role, pods }: Pick<RoleArgs, "role" | "pods">): readonly Association[] {
  const accounts = pods === undefined ? [] : accountsOf(pods);
  return accounts.map((account) => {
    const name = accounts.length === 1 ? role : account.serviceAccount;
    return { resource: resources.podIdentity(name), name, account };
  });
}

/** What must be ready before somebody can use the role. */
export function roleResources(args: RoleArgs): readonly [Resource, ...Resource[]] {
  const { role, managedPolicies, inlinePolicy } = args;
  return [
    resources.role(role),
    ...managedPolicies.map((policy) => resources.attachment(role, policy)),
    ...(inlinePolicy ? [resources.rolePolicy(role)] : []),
    ...associationsOf(args).map(({ resource }) => resource),
  ];
}

/** Gives a role to the pods of a service account. EKS refuses a role whose trust does not name it, so the role comes first. */
function composePodIdentity(context: Context, role: RoleName, { resource, name, account }: Association): void {
  const { composer, facts, names, observed, spoke, tags } = context;
  const trust = at(observed.get(resources.role(role))?.spec, "forProvider", "assumeRolePolicy");
  const needs = {
    roleArn: facts.readyText(resources.role(role), "arn"),
    trust: fact("identities", String(trust).includes(podIdentityService) || undefined),
  };
  composer.managed(resource, "PodIdentityAssociation", needs, ({ roleArn }) => ({
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      ...account,
      roleArn,
      tags: { ...tags(), [identityTag]: name },
    },
  }));
}

/** An IAM role under a boundary of the fleet, its policies, and the pods that get it. */
export function composeRole(context: Context, args: RoleArgs): void {
  const { composer, facts, scope, tags } = context;
  const { role, roleName, description, trust, managedPolicies, inlinePolicy } = args;
  const { boundary: permissionsBoundary = context.permissionsBoundary } = args;
  const resource = resources.role(role);
  composer.managed(resource, "Role", { trust: fact("identities", trust) }, (known) => ({
    externalName: roleName,
    forProvider: {
      ...(scope.rolePath === noPath ? {} : { path: scope.rolePath }),
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
  for (const association of associationsOf(args)) composePodIdentity(context, role, association);
  if (inlinePolicy === undefined) return;
  composer.managed(resources.rolePolicy(role), "RolePolicy", made, () => ({
    externalName: roleName,
    forProvider: { role: roleName, policy: JSON.stringify(inlinePolicy) },
  }));
}
