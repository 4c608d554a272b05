import { createHash } from "node:crypto";
import type { KubernetesObject } from "@kubernetes/client-node";
import { ACCESS_POLICIES, type AccessPolicyName, policyName } from "../access-policies.ts";
import type { AccessPolicy, ClusterRecord } from "../model.ts";

/** Marks the bindings that stand for access policies. */
export const ACCESS_LABEL = "eks.amazonaws.com/access-policy";

const RBAC = "rbac.authorization.k8s.io";

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
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: "eks:admin-view", labels: { [ACCESS_LABEL]: "AmazonEKSAdminViewPolicy" } },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] },
        { nonResourceURLs: ["*"], verbs: ["get"] },
      ],
    } as KubernetesObject,
    ...Object.keys(ACCESS_POLICIES).map((name) => {
      const policy = name as AccessPolicyName;
      return binding(
        "ClusterRoleBinding",
        `eks:access-policy:${policy}`,
        undefined,
        policy,
        `eks:access-policy:${policy}:cluster`,
      );
    }),
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
        bindings.set(`${namespace}/${group}`, binding("RoleBinding", group, namespace, name, group));
    }
  return [...bindings.values()];
}

function binding(
  kind: string,
  name: string,
  namespace: string | undefined,
  policy: AccessPolicyName,
  group: string,
): KubernetesObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata: {
      // In lower case, as @kubernetes/client-node writes it into the URL.
      name: name.toLowerCase(),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [ACCESS_LABEL]: policy },
    },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: ACCESS_POLICIES[policy] },
    subjects: [{ apiGroup: RBAC, kind: "Group", name: group }],
  } as KubernetesObject;
}
