import { createHash } from "node:crypto";
import type { KubernetesObject, V1PolicyRule } from "@kubernetes/client-node";
import { policyName } from "../access-policies.ts";
import { ACCESS_POLICIES, type AccessPolicyName } from "../access-policy-rules.ts";
import type { AccessPolicy, ClusterRecord } from "../model.ts";
import { binding, clusterRole, RBAC_GROUP } from "./rbac.ts";

/** Marks the roles and bindings that stand for access policies. */
export const ACCESS_LABEL = "eks.amazonaws.com/access-policy";

/** The Kubernetes group that stands for an access policy in its scope. EKS reserves the prefix, so nobody can ask for it. */
export function accessGroup(policy: Pick<AccessPolicy, "policyArn" | "accessScope">): string {
  const name = policyName(policy.policyArn) ?? "";
  if (policy.accessScope.type === "cluster") return `eks:access-policy:${name}:cluster`;
  return `eks:access-policy:${name}:${scopeId(policy.accessScope.namespaces ?? [])}`;
}

/** Whether a namespace is in a scope: `*` in a name stands for any characters. */
export function inScope(namespace: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => new RegExp(`^${pattern.split("*").map(escapeRegExp).join(".*")}$`).test(namespace));
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

const scopeId = (namespaces: readonly string[]): string =>
  createHash("sha256")
    .update([...namespaces].sort().join(","))
    .digest("hex")
    .slice(0, 12);

/** What every cluster has: the role of each access policy, and its binding for associations with the whole cluster. */
export function standingAccessObjects(): KubernetesObject[] {
  const policies = Object.keys(ACCESS_POLICIES) as AccessPolicyName[];
  return policies.flatMap((policy) => [
    clusterRole({ name: roleOf(policy), labels: { [ACCESS_LABEL]: policy } }, ACCESS_POLICIES[policy].map(asRbac)),
    bound(policy, `eks:access-policy:${policy}:cluster`),
  ]);
}

const HANDING_OUT: readonly string[] = ["create", "patch", "update"];

/**
 * On EKS a webhook decides by access policies, and the API server refuses Roles and RoleBindings that give more than RBAC alone
 * gives their author (aws/containers-roadmap#2682). Here the policies are RBAC and would count, so they may not write these kinds.
 */
const asRbac = (rule: V1PolicyRule): V1PolicyRule =>
  rule.apiGroups?.includes(RBAC_GROUP)
    ? { ...rule, verbs: rule.verbs.filter((verb) => !HANDING_OUT.includes(verb)) }
    : rule;

// In lower case, as @kubernetes/client-node writes names into the URL.
const roleOf = (policy: AccessPolicyName): string => `eks:access-policy:${policy}`.toLowerCase();

/** The bindings of the associations that hold in some namespaces only, for the namespaces that exist. */
export function namespacedAccessObjects(record: ClusterRecord, namespaces: readonly string[]): KubernetesObject[] {
  const bindings = new Map<string, KubernetesObject>();
  for (const { policies } of Object.values(record.accessEntries))
    for (const policy of policies) {
      const name = policyName(policy.policyArn);
      if (policy.accessScope.type !== "namespace" || name === undefined) continue;
      const group = accessGroup(policy);
      for (const namespace of namespaces.filter((candidate) => inScope(candidate, policy.accessScope.namespaces ?? [])))
        bindings.set(`${namespace}/${group}`, bound(name, group, namespace));
    }
  return [...bindings.values()];
}

/** Binds the role of an access policy to a group, in one namespace or cluster-wide. */
function bound(policy: AccessPolicyName, group: string, namespace?: string): KubernetesObject {
  const metadata = { name: group.toLowerCase(), labels: { [ACCESS_LABEL]: policy }, ...(namespace && { namespace }) };
  return binding(metadata, roleOf(policy), { kind: "Group", name: group });
}
