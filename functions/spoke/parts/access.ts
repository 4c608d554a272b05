import { createHash } from "node:crypto";
import { arns } from "../../../lib/iam/policy.ts";
import type { Context } from "../context.ts";
import { type Fact, fact } from "../facts.ts";
import { at, type KubeObject } from "../kube.ts";
import { type Resource, resources } from "../resources.ts";
import { controlPlaneFacts } from "./control-plane.ts";

/** What identifies somebody's access in a key. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 10);

/** An access entry: the cluster knows an IAM role or user. */
export interface EntryArgs {
  readonly entry: Resource;
  readonly arn: string;
  readonly groups?: readonly string[];
}

export function composeEntry(context: Context, { entry, arn, groups }: EntryArgs): void {
  const { composer, names, spoke, tags } = context;
  const cluster = { controlPlane: controlPlaneFacts(context).endpoint };
  composer.managed(entry, "AccessEntry", cluster, () => ({
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      principalArn: arn,
      ...(groups ? { kubernetesGroups: groups } : {}),
      type: "STANDARD",
      tags: tags(),
    },
  }));
}

/** Whose entry Argo CD's is, as long as there is one: nobody else has a second one for the same principal. */
export const argocdPrincipal = (observed: Context["observed"]): unknown =>
  at(observed.get(resources.argocdEntry)?.spec, "forProvider", "principalArn");

/** An access policy of an entry, and where it holds. */
export interface AssociationArgs extends EntryArgs {
  readonly resource: Resource;
  /** Name of the access policy. */
  readonly policy: string;
  readonly accessScope:
    | { readonly type: "cluster" }
    | { readonly type: "namespace"; readonly namespaces: readonly string[] };
}

export function composeAssociation(context: Context, association: AssociationArgs): void {
  const { composer, facts, names, scope, spoke } = context;
  const { entry, arn, resource, policy, accessScope } = association;
  composer.managed(resource, "AccessPolicyAssociation", { accessEntry: facts.ready(entry) }, () => ({
    forProvider: {
      region: spoke.spec.region,
      clusterName: names.cluster,
      principalArn: arn,
      policyArn: arns(scope).accessPolicy(policy),
      accessScope,
    },
  }));
}

/** An access policy in some namespaces, which are sorted. */
export interface GrantArgs extends Omit<AssociationArgs, "accessScope"> {
  readonly namespaces: readonly string[];
}

/** Whether an association is there that holds in these namespaces and no others. */
function isGranted(association: KubeObject | undefined, namespaces: readonly string[]): boolean {
  const granted = at(association?.spec, "forProvider", "accessScope", "namespaces");
  return Array.isArray(granted) && granted.toSorted().join(" ") === namespaces.join(" ");
}

/** Whether an access works, and does so in these namespaces. */
export function grantReady(
  { facts, observed }: Context,
  { resource, namespaces }: Pick<GrantArgs, "namespaces" | "resource">,
): Fact<true> {
  return isGranted(observed.get(resource), namespaces) ? facts.ready(resource) : fact<true>("identities", undefined);
}

/**
 * One access in its namespaces. The scope of an association can't be changed in place (Terraform's aws_eks_access_policy_association
 * replaces it), so one with other namespaces is removed and made again under its name: there is none beside it that its removal
 * would take away.
 */
export function composeGrant(context: Context, { namespaces, ...args }: GrantArgs): void {
  const existing = context.observed.get(args.resource);
  if (existing && !isGranted(existing, namespaces))
    context.composer.waitFor(args.resource, fact("identities", undefined));
  else composeAssociation(context, { ...args, accessScope: { type: "namespace", namespaces } });
}
