import { createHash } from "node:crypto";
import { arns } from "../../../lib/iam/policy.ts";
import type { Context } from "../context.ts";
import type { Resource } from "../resources.ts";
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
