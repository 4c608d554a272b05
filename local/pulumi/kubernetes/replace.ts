/**
 * Fields that cannot be changed in place.
 *
 * Source: the API reference of Kubernetes 1.34 (fields documented as immutable), as the official provider has them in its table.
 */
import type { GroupKind } from "./kinds.ts";
import type { Settings } from "./session.ts";

const ALWAYS = ["metadata.name", "metadata.namespace", "kind"];

const WORKLOAD_SELECTOR = ["spec.selector"];

/** Immutable fields by `group/kind`; the core group is empty. */
const IMMUTABLE: Readonly<Record<string, readonly string[]>> = {
  "apps/Deployment": WORKLOAD_SELECTOR,
  "apps/ReplicaSet": WORKLOAD_SELECTOR,
  "apps/DaemonSet": WORKLOAD_SELECTOR,
  "apps/StatefulSet": [
    ...WORKLOAD_SELECTOR,
    "spec.serviceName",
    "spec.podManagementPolicy",
    "spec.volumeClaimTemplates",
    "spec.revisionHistoryLimit",
  ],
  "batch/Job": ["spec.selector", "spec.template", "spec.completions", "spec.completionMode", "spec.manualSelector"],
  "rbac.authorization.k8s.io/RoleBinding": ["roleRef"],
  "rbac.authorization.k8s.io/ClusterRoleBinding": ["roleRef"],
  "storage.k8s.io/StorageClass": ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"],
  "scheduling.k8s.io/PriorityClass": ["value", "preemptionPolicy"],
  "node.k8s.io/RuntimeClass": ["handler"],
  "networking.k8s.io/IngressClass": ["spec.controller"],
  "apiextensions.k8s.io/CustomResourceDefinition": ["spec.group", "spec.scope", "spec.names.kind", "spec.names.plural"],
  "/PersistentVolumeClaim": [
    "spec.accessModes",
    "spec.selector",
    "spec.storageClassName",
    "spec.volumeName",
    "spec.volumeMode",
  ],
  "/PersistentVolume": ["spec.volumeMode"],
  "/Pod": ["spec"],
  "/ResourceQuota": ["spec.scopes", "spec.scopeSelector"],
  "/Service": ["spec.clusterIP"],
  "/Secret": ["type"],
};

/** Paths of inputs whose change needs a new object. */
export function replaceOn({ apiVersion, kind }: GroupKind, settings: Settings): string[] {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const id = `${group}/${kind}`;
  // Consumers of a ConfigMap or Secret see a change only under a new name, unless the provider is told otherwise.
  const data =
    (id === "/ConfigMap" && !settings.enableConfigMapMutable) || (id === "/Secret" && !settings.enableSecretMutable)
      ? ["data", "stringData", "binaryData"]
      : [];
  return [...ALWAYS, ...(IMMUTABLE[id] ?? []), ...data];
}

/** True when the API server refused a change because a field is immutable. */
export function isImmutableRefusal(message: string): boolean {
  return /field is immutable|may not be (changed|updated)|cannot be changed|Forbidden: updates to .* (are|is) forbidden|Forbidden: pod updates may not|is immutable after creation/i.test(
    message,
  );
}
