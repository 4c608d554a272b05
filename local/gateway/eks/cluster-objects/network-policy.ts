import type { KubernetesObject } from "@kubernetes/client-node";
import { NETWORK_POLICY_USER } from "../../../clusters/index.ts";

const RBAC = "rbac.authorization.k8s.io";
const READ = ["list", "watch"];

/** The rights of what enforces NetworkPolicies on the nodes: to read what the rules follow from, and no more. */
export const networkPolicyAccess = (): KubernetesObject[] => [
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: NETWORK_POLICY_USER },
    rules: [
      { apiGroups: [""], resources: ["pods", "namespaces"], verbs: READ },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: READ },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
    ],
  } as KubernetesObject,
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: NETWORK_POLICY_USER },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: NETWORK_POLICY_USER },
    subjects: [{ apiGroup: RBAC, kind: "User", name: NETWORK_POLICY_USER }],
  } as KubernetesObject,
];
