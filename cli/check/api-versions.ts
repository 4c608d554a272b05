/**
 * API versions that are deprecated or no longer served, with their successors. Sources: Kubernetes' Deprecated API Migration Guide,
 * the release notes of Flux 2.7 to 2.9, External Secrets 0.17, Crossplane 2.0. Versions that a CustomResourceDefinition does not
 * serve, or calls deprecated, need no entry here.
 */

export interface OldVersion {
  readonly apiVersion: string;
  /** Missing for all kinds of the version. */
  readonly kinds?: readonly string[];
  /** `removed in Kubernetes 1.25`, `deprecated since Flux 2.6`. */
  readonly fate: string;
  readonly successor: string;
}

const removed = (release: string, apiVersion: string, successor: string, kinds?: readonly string[]): OldVersion => ({
  apiVersion,
  successor,
  fate: `removed in ${release}`,
  ...(kinds ? { kinds } : {}),
});

const deprecated = (release: string, apiVersion: string, successor: string, kinds?: readonly string[]): OldVersion => ({
  ...removed(release, apiVersion, successor, kinds),
  fate: `deprecated since ${release}`,
});

const old: readonly OldVersion[] = [
  removed("Kubernetes 1.16", "extensions/v1beta1", "apps/v1", ["DaemonSet", "Deployment", "ReplicaSet"]),
  removed("Kubernetes 1.16", "extensions/v1beta1", "networking.k8s.io/v1", ["NetworkPolicy"]),
  removed("Kubernetes 1.22", "extensions/v1beta1", "networking.k8s.io/v1", ["Ingress"]),
  removed("Kubernetes 1.16", "extensions/v1beta1", "the namespace label pod-security.kubernetes.io/enforce", [
    "PodSecurityPolicy",
  ]),
  removed("Kubernetes 1.16", "apps/v1beta1", "apps/v1"),
  removed("Kubernetes 1.16", "apps/v1beta2", "apps/v1"),
  removed("Kubernetes 1.22", "admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1", [
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
  ]),
  deprecated("Kubernetes 1.30", "admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1", [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]),
  removed("Kubernetes 1.30", "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1", [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ]),
  removed("Kubernetes 1.22", "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"),
  removed("Kubernetes 1.22", "apiregistration.k8s.io/v1beta1", "apiregistration.k8s.io/v1"),
  removed("Kubernetes 1.22", "authentication.k8s.io/v1beta1", "authentication.k8s.io/v1", ["TokenReview"]),
  removed("Kubernetes 1.22", "authorization.k8s.io/v1beta1", "authorization.k8s.io/v1"),
  removed("Kubernetes 1.22", "certificates.k8s.io/v1beta1", "certificates.k8s.io/v1", ["CertificateSigningRequest"]),
  removed("Kubernetes 1.22", "coordination.k8s.io/v1beta1", "coordination.k8s.io/v1", ["Lease"]),
  removed("Kubernetes 1.22", "networking.k8s.io/v1beta1", "networking.k8s.io/v1", ["Ingress", "IngressClass"]),
  removed("Kubernetes 1.22", "rbac.authorization.k8s.io/v1alpha1", "rbac.authorization.k8s.io/v1"),
  removed("Kubernetes 1.22", "rbac.authorization.k8s.io/v1beta1", "rbac.authorization.k8s.io/v1"),
  removed("Kubernetes 1.22", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1", ["PriorityClass"]),
  removed("Kubernetes 1.22", "storage.k8s.io/v1beta1", "storage.k8s.io/v1", [
    "CSIDriver",
    "CSINode",
    "StorageClass",
    "VolumeAttachment",
  ]),
  removed("Kubernetes 1.27", "storage.k8s.io/v1beta1", "storage.k8s.io/v1", ["CSIStorageCapacity"]),
  removed("Kubernetes 1.25", "batch/v1beta1", "batch/v1", ["CronJob"]),
  removed("Kubernetes 1.21", "batch/v2alpha1", "batch/v1", ["CronJob"]),
  removed("Kubernetes 1.25", "discovery.k8s.io/v1beta1", "discovery.k8s.io/v1", ["EndpointSlice"]),
  removed("Kubernetes 1.25", "events.k8s.io/v1beta1", "events.k8s.io/v1", ["Event"]),
  removed("Kubernetes 1.25", "autoscaling/v2beta1", "autoscaling/v2"),
  removed("Kubernetes 1.26", "autoscaling/v2beta2", "autoscaling/v2"),
  removed("Kubernetes 1.25", "policy/v1beta1", "policy/v1", ["PodDisruptionBudget"]),
  removed("Kubernetes 1.25", "policy/v1beta1", "the namespace label pod-security.kubernetes.io/enforce", [
    "PodSecurityPolicy",
  ]),
  removed("Kubernetes 1.25", "node.k8s.io/v1beta1", "node.k8s.io/v1", ["RuntimeClass"]),
  removed("Kubernetes 1.26", "flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1"),
  removed("Kubernetes 1.29", "flowcontrol.apiserver.k8s.io/v1beta2", "flowcontrol.apiserver.k8s.io/v1"),
  removed("Kubernetes 1.32", "flowcontrol.apiserver.k8s.io/v1beta3", "flowcontrol.apiserver.k8s.io/v1"),
  deprecated("Kubernetes 1.33", "v1", "discovery.k8s.io/v1 EndpointSlice", ["Endpoints"]),
  deprecated("Kubernetes 1.19", "v1", "the API server's own health endpoints", ["ComponentStatus"]),
  removed("Flux 2.7", "kustomize.toolkit.fluxcd.io/v1beta1", "kustomize.toolkit.fluxcd.io/v1"),
  removed("Flux 2.8", "kustomize.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1"),
  removed("Flux 2.7", "source.toolkit.fluxcd.io/v1beta1", "source.toolkit.fluxcd.io/v1"),
  removed("Flux 2.8", "source.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1"),
  removed("Flux 2.7", "helm.toolkit.fluxcd.io/v2beta1", "helm.toolkit.fluxcd.io/v2"),
  removed("Flux 2.8", "helm.toolkit.fluxcd.io/v2beta2", "helm.toolkit.fluxcd.io/v2"),
  removed("Flux 2.7", "image.toolkit.fluxcd.io/v1beta1", "image.toolkit.fluxcd.io/v1"),
  removed("Flux 2.9", "image.toolkit.fluxcd.io/v1beta2", "image.toolkit.fluxcd.io/v1"),
  removed("Flux 2.7", "notification.toolkit.fluxcd.io/v1beta1", "notification.toolkit.fluxcd.io/v1", ["Receiver"]),
  removed("Flux 2.9", "notification.toolkit.fluxcd.io/v1beta2", "notification.toolkit.fluxcd.io/v1", ["Receiver"]),
  // notification-controller 1.9 has no v1 of these (config/crd/bases).
  removed("Flux 2.7", "notification.toolkit.fluxcd.io/v1beta1", "notification.toolkit.fluxcd.io/v1beta3", [
    "Alert",
    "Provider",
  ]),
  removed("Flux 2.9", "notification.toolkit.fluxcd.io/v1beta2", "notification.toolkit.fluxcd.io/v1beta3", [
    "Alert",
    "Provider",
  ]),
  removed("External Secrets 0.17", "external-secrets.io/v1alpha1", "external-secrets.io/v1", [
    "ClusterExternalSecret",
    "ClusterSecretStore",
    "ExternalSecret",
    "SecretStore",
  ]),
  removed("External Secrets 0.17", "external-secrets.io/v1beta1", "external-secrets.io/v1"),
  deprecated("Crossplane 2.0", "apiextensions.crossplane.io/v1", "apiextensions.crossplane.io/v2", [
    "CompositeResourceDefinition",
  ]),
  removed("Crossplane 2.0", "pkg.crossplane.io/v1alpha1", "pkg.crossplane.io/v1beta1 DeploymentRuntimeConfig", [
    "ControllerConfig",
  ]),
  removed("Crossplane 2.0", "apiextensions.crossplane.io/v1beta1", "protection.crossplane.io/v1beta1", ["Usage"]),
  deprecated("Crossplane 2.0", "pkg.crossplane.io/v1beta1", "pkg.crossplane.io/v1", ["Function"]),
];

/** Cluster-scoped kinds of the AWS provider, from before Crossplane 2. */
const legacyProvider = /^((?:[a-z0-9]+\.)?aws)\.upbound\.io\/(v\w+)$/;

/** Whether an API version is deprecated or removed, and its successor; undefined for one that is current. */
export function oldVersion(apiVersion: string, kind: string): OldVersion | undefined {
  const [, group] = legacyProvider.exec(apiVersion) ?? [];
  if (group) return deprecated("Crossplane 2.0", apiVersion, `${group}.m.upbound.io/v1beta1`);
  return old.find((entry) => entry.apiVersion === apiVersion && (!entry.kinds || entry.kinds.includes(kind)));
}
