/** Which changes need a new object, as far as that is known without asking the API server. */
import { type PropertyMap, reveal } from "../framework/index.ts";
import type { GroupKind } from "./kinds.ts";
import { groupKind } from "./readiness.ts";
import type { Settings } from "./session.ts";

const IDENTITY = ["metadata.name", "metadata.namespace", "kind"];
const DATA = ["data", "stringData", "binaryData"];

/**
 * All immutable fields by `group/kind` (the core group is empty) of the built-in kinds that the program makes, of workloads and of role
 * bindings. A preview relies on them when the API server cannot be asked; other kinds only the server knows.
 *
 * Source: ValidateSecretUpdate, ValidateStatefulSetUpdate and their like in Kubernetes 1.36.4 (pkg/apis). For `immutable` of ConfigMaps and
 * Secrets see {@link replaceOn}.
 */
const IMMUTABLE: Readonly<Record<string, readonly string[]>> = {
  "/ConfigMap": [],
  "/Namespace": [],
  "/Secret": ["type"],
  "/ServiceAccount": [],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": [],
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": [],
  "apps/DaemonSet": ["spec.selector"],
  "apps/Deployment": ["spec.selector"],
  "apps/StatefulSet": ["spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"],
  "rbac.authorization.k8s.io/ClusterRoleBinding": ["roleRef"],
  "rbac.authorization.k8s.io/RoleBinding": ["roleRef"],
};

/** True when {@link replaceOn} has all immutable fields of the kind, so that the API server's answer adds nothing. */
export function knowsImmutableFields(kind: GroupKind): boolean {
  return IMMUTABLE[groupKind(kind)] !== undefined;
}

/** Paths of inputs whose change needs a new object, whatever the API server says. */
export function replaceOn(kind: GroupKind, settings: Settings, oldInputs: PropertyMap): string[] {
  return [...IDENTITY, ...(IMMUTABLE[groupKind(kind)] ?? []), ...immutableData(kind, settings, oldInputs)];
}

function immutableData(kind: GroupKind, settings: Settings, oldInputs: PropertyMap): string[] {
  const settingOf = { "/ConfigMap": settings.enableConfigMapMutable, "/Secret": settings.enableSecretMutable };
  const mutable = settingOf[groupKind(kind) as keyof typeof settingOf] as boolean | undefined;
  if (mutable === undefined) return [];
  // The API server takes neither other data of an immutable object nor the mark back.
  if (reveal(oldInputs["immutable"] ?? false) === true) return ["immutable", ...DATA];
  // Consumers of a ConfigMap or Secret see a change only under a new name, unless the provider is told otherwise.
  return mutable ? [] : DATA;
}
