import type { KubernetesObject } from "@kubernetes/client-node";

export const RBAC_GROUP = "rbac.authorization.k8s.io";
export const RBAC_VERSION = `${RBAC_GROUP}/v1`;

type Metadata = Pick<NonNullable<KubernetesObject["metadata"]>, "name" | "namespace" | "labels">;

export const clusterRole = (metadata: Metadata, rules: readonly object[]): KubernetesObject =>
  ({ apiVersion: RBAC_VERSION, kind: "ClusterRole", metadata, rules }) as KubernetesObject;

/** Binds a ClusterRole in the namespace of `metadata`, or cluster-wide without one. */
export const binding = (
  metadata: Metadata,
  role: string,
  subject: { readonly kind: "User" | "Group" | "ServiceAccount"; readonly name: string; readonly namespace?: string },
): KubernetesObject =>
  ({
    apiVersion: RBAC_VERSION,
    kind: metadata.namespace === undefined ? "ClusterRoleBinding" : "RoleBinding",
    metadata,
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects: [{ ...(subject.kind === "ServiceAccount" ? {} : { apiGroup: RBAC_GROUP }), ...subject }],
  }) as KubernetesObject;
