import { createHash } from "node:crypto";
import type { KubernetesObject } from "@kubernetes/client-node";
import { ACCESS_POLICIES, type AccessPolicyName, policyName } from "../access-policies.ts";
import type { AccessPolicy, ClusterRecord } from "../model.ts";
import { binding, clusterRole } from "./rbac.ts";

/** Marks the bindings that stand for access policies. */
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

/** What every cluster has: the role of AmazonEKSAdminViewPolicy and cluster-wide bindings of all access policies. */
export function standingAccessObjects(): KubernetesObject[] {
  const policies = Object.keys(ACCESS_POLICIES) as AccessPolicyName[];
  return [
    clusterRole({ name: "eks:admin-view", labels: { [ACCESS_LABEL]: "AmazonEKSAdminViewPolicy" } }, [
      { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
      { nonResourceURLs: ["*"], verbs: ["get"] },
    ]),
    ...policies.map((policy) => bound(policy, `eks:access-policy:${policy}:cluster`, `eks:access-policy:${policy}`)),
  ];
}

/** The bindings of the associations that hold in some namespaces only, for the namespaces that exist. */
export function namespacedAccessObjects(record: ClusterRecord, namespaces: readonly string[]): KubernetesObject[] {
  const bindings = new Map<string, KubernetesObject>();
  for (const { policies } of Object.values(record.accessEntries))
    for (const policy of policies) {
      const name = policyName(policy.policyArn);
      if (policy.accessScope.type !== "namespace" || name === undefined) continue;
      const group = accessGroup(policy);
      for (const namespace of namespaces.filter((candidate) => inScope(candidate, policy.accessScope.namespaces ?? [])))
        bindings.set(`${namespace}/${group}`, bound(name, group, group, namespace));
    }
  return [...bindings.values()];
}

/** The binding `name` of the role of an access policy to a group. */
function bound(policy: AccessPolicyName, group: string, name: string, namespace?: string): KubernetesObject {
  // In lower case, as @kubernetes/client-node writes it into the URL.
  const metadata = { name: name.toLowerCase(), labels: { [ACCESS_LABEL]: policy }, ...(namespace && { namespace }) };
  return binding(metadata, ACCESS_POLICIES[policy], { kind: "Group", name: group });
}
