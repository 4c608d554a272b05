import { awsKindsAnnotation, labelKeys } from "../../../lib/labels.ts";
import { type Cases, type Requested, tenantNamespace } from "./admission-request.ts";

/** What Flux applies and removes for gitops-workloads, and what tools/base/workloads/scope.yaml says of it. */

/** As which user kustomize-controller acts for a Kustomization with the service account `workloads`. */
export const workloadsAccount = "system:serviceaccount:flux-system:workloads";

const owner = "kustomize.toolkit.fluxcd.io/name";
const object = (apiVersion: string, kind: string, metadata: Requested["metadata"], more: object = {}): Requested => ({
  apiVersion,
  kind,
  metadata,
  ...more,
});
const configMap = (namespace: string) => object("v1", "ConfigMap", { name: "trial", namespace });
const enforced = { "pod-security.kubernetes.io/enforce": "restricted" };
const tenant = { [labelKeys.tenant]: "payments" };
const namespaceWith = (name: string, labels: Record<string, string>, annotations: Record<string, string> = {}) =>
  object("v1", "Namespace", { name, labels, annotations });
const step = (spec: object, labels: Record<string, string> = {}, name = "trial"): Requested =>
  object(
    "kustomize.toolkit.fluxcd.io/v1",
    "Kustomization",
    { name, namespace: "flux-system", labels },
    {
      spec: {
        ...{ interval: "30m", prune: true, path: "./clusters/blue/trial", serviceAccountName: "workloads" },
        sourceRef: { kind: "GitRepository", name: "gitops-workloads" },
        ...spec,
      },
    },
  );
const own = { [owner]: "workloads" };
const substituting = (kind: string) => ({ postBuild: { substituteFrom: [{ kind, name: "cluster-info" }] } });
const secret = (labels: Record<string, string>, name = "trial") =>
  object("v1", "Secret", { name, namespace: "argocd", labels }, { type: "Opaque" });
const cluster = { "argocd.argoproj.io/secret-type": "cluster" };

const elsewhere = (about: string) => `put everything else into gitops-system (tools/<environment>); got ${about}`;
const identity = "in flux-system has serviceAccountName: workloads";

const ownStep = step(substituting("ConfigMap"), own);

export const workloadsScope: Cases = [
  { title: "a namespace of an application", object: namespaceWith("stall", { ...tenant, ...enforced }) },
  {
    title: "a namespace that gets a quota of kinds in AWS",
    from: namespaceWith("stall", { ...tenant, ...enforced }),
    object: namespaceWith("stall", { ...tenant, ...enforced }, { [awsKindsAnnotation]: "s3.Bucket" }),
  },
  {
    title: "a namespace of nobody",
    object: namespaceWith("stall", enforced),
    refused: elsewhere("Namespace stall"),
  },
  {
    title: "a namespace that becomes an application's",
    from: namespaceWith("stall", enforced),
    object: namespaceWith("stall", { ...tenant, ...enforced }),
    refused: elsewhere("Namespace stall"),
  },
  {
    title: "an add-on's namespace before the add-on",
    object: namespaceWith("velero", { ...tenant, ...enforced }),
    refused: elsewhere("Namespace velero"),
  },
  {
    title: "a namespace that is called like the system's",
    object: namespaceWith("kube-stall", { ...tenant, ...enforced }),
    refused: elsewhere("Namespace kube-stall"),
  },
  ...[{}, { "pod-security.kubernetes.io/enforce": "privileged" }].map((labels) => ({
    title: `a namespace of privileged pods, by ${JSON.stringify(labels)}`,
    object: namespaceWith("stall", { ...tenant, ...labels }),
    refused: "pod-security.kubernetes.io/enforce: restricted or baseline; got Namespace stall",
  })),
  { title: "an object in a namespace of an application", object: configMap(tenantNamespace) },
  ...["kube-system", "flux-system", "default", "argocd"].map((namespace) => ({
    title: `an object in ${namespace}`,
    object: configMap(namespace),
    refused: elsewhere(`ConfigMap ${namespace}/trial`),
  })),
  {
    title: "an object of no namespace",
    object: object(
      "rbac.authorization.k8s.io/v1",
      "ClusterRoleBinding",
      { name: "trial" },
      { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" }, subjects: [] },
    ),
    refused: elsewhere("ClusterRoleBinding trial"),
  },
  { title: "a Kustomization beside its own", object: ownStep },
  { title: "a Kustomization beside its own, changed", from: ownStep, object: step({ interval: "1h" }, own) },
  {
    title: "the platform's Kustomization",
    from: step({}, { [owner]: "tools" }),
    object: step({ interval: "1h" }, { [owner]: "tools" }),
    refused: elsewhere("Kustomization flux-system/trial"),
  },
  {
    title: "the platform's Kustomization under its own label",
    from: step({}),
    object: step({}, own),
    refused: elsewhere("Kustomization flux-system/trial"),
  },
  ...Object.entries({
    "with the rights of the administrator": { serviceAccountName: "kustomize-controller" },
    "with no identity": { serviceAccountName: undefined },
    "that reads a Secret of the platform": substituting("Secret"),
    "that decrypts with keys of the platform": { decryption: { provider: "sops" } },
    "that asks after what is in a Secret": {
      healthChecks: [{ apiVersion: "v1", kind: "Secret", name: "gitops-system", namespace: "flux-system" }],
    },
  }).map(([what, spec]) => ({ title: `a Kustomization ${what}`, object: step(spec), refused: identity })),
  { title: "a cluster of Argo CD", object: secret(cluster) },
  {
    title: "a Secret of Argo CD itself",
    object: secret({}, "argocd-secret"),
    refused: elsewhere("Secret argocd/argocd-secret"),
  },
  {
    title: "a Secret of Argo CD itself that becomes a cluster",
    from: secret({}),
    object: secret(cluster),
    refused: elsewhere("Secret argocd/trial"),
  },
].map((each) => ({ ...each, by: workloadsAccount }));

/** Objects that Flux removes as this identity. */
export const removedByWorkloads: Cases = [
  { title: "the removal of an application's namespace", object: namespaceWith("stall", tenant) },
  {
    title: "the removal of a platform's namespace",
    object: namespaceWith("velero", {}),
    refused: elsewhere("Namespace velero"),
  },
  { title: "the removal of an application's object", object: configMap(tenantNamespace) },
  {
    title: "the removal of a platform's object",
    object: configMap("flux-system"),
    refused: elsewhere("ConfigMap flux-system/trial"),
  },
  { title: "the removal of a Kustomization of its own", object: ownStep },
  {
    title: "the removal of the platform's Kustomization",
    object: step({}, { [owner]: "tools" }),
    refused: elsewhere("Kustomization flux-system/trial"),
  },
].map((each) => ({ ...each, by: workloadsAccount }));

const remote = (kind: "HelmRelease" | "Kustomization", namespace: string, kubeConfig?: object): Requested => {
  const [apiVersion, spec] = {
    HelmRelease: ["helm.toolkit.fluxcd.io/v2", { chartRef: { kind: "OCIRepository", name: "trial" } }] as const,
    Kustomization: [
      "kustomize.toolkit.fluxcd.io/v1",
      { prune: true, sourceRef: { kind: "GitRepository", name: "trial" } },
    ] as const,
  }[kind];
  return object(
    apiVersion,
    kind,
    { name: "trial", namespace },
    { spec: { interval: "1h", ...spec, ...(kubeConfig && { kubeConfig }) } },
  );
};
const deployer = `system:serviceaccount:${tenantNamespace}:deployer`;
const forms = { secretRef: { name: "evil" }, configMapRef: { name: "evil" } };

/** What tools/base/workloads/kube-config.yaml says of Flux's objects, of any user and in any namespace. */
export const kubeConfigs: Cases = (["HelmRelease", "Kustomization"] as const).flatMap((kind) => [
  { title: `a ${kind} for its own cluster`, object: remote(kind, tenantNamespace), by: deployer },
  ...[workloadsAccount, deployer, undefined].flatMap((by) =>
    Object.entries(forms).map(([form, ref]) => ({
      title: `a ${kind} for another API server, by ${form}, of ${by ?? "an administrator"}`,
      object: remote(kind, tenantNamespace, { [form]: ref }),
      refused: `remove spec.kubeConfig; got ${kind} ${tenantNamespace}/trial`,
      ...(by && { by }),
    })),
  ),
  ...["default", "flux-system"].map((namespace) => ({
    title: `a ${kind} for another API server in ${namespace}`,
    object: remote(kind, namespace, { configMapRef: { name: "evil" } }),
    refused: `remove spec.kubeConfig; got ${kind} ${namespace}/trial`,
  })),
  {
    title: `a ${kind} that is turned to another API server`,
    from: remote(kind, tenantNamespace),
    object: remote(kind, tenantNamespace, { secretRef: { name: "evil" } }),
    refused: `remove spec.kubeConfig; got ${kind} ${tenantNamespace}/trial`,
  },
]);

const stall = (labels: Record<string, string>) => namespaceWith("stall", labels);
const level = (enforce: string) => ({ "pod-security.kubernetes.io/enforce": enforce });

/** What tools/base/policies/tenant-namespaces.yaml says of a change of a namespace, of any user. */
export const tenantNamespaces: Cases = [
  {
    title: "another label of an application's namespace",
    from: stall({ ...tenant, ...enforced }),
    object: stall({ ...tenant, ...enforced, team: "a" }),
  },
  {
    title: "a lower level of an application's namespace",
    from: stall({ ...tenant, ...enforced }),
    object: stall({ ...tenant, ...level("baseline") }),
  },
  {
    title: "another label of an application's namespace from before the rule",
    from: stall(tenant),
    object: stall({ ...tenant, team: "a" }),
  },
  {
    title: "an application's namespace that becomes another one",
    from: stall({ ...tenant, ...enforced }),
    object: stall(enforced),
    refused: "keeps the label fleet.internal/tenant; got Namespace stall without it",
  },
  ...Object.entries({ none: {}, privileged: level("privileged") }).map(([name, labels]) => ({
    title: `an application's namespace with the level ${name}`,
    from: stall({ ...tenant, ...enforced }),
    object: stall({ ...tenant, ...labels }),
    refused: `restricted or baseline; got Namespace stall with ${name}`,
  })),
  {
    title: "a namespace of the platform that gets privileged pods",
    from: stall(enforced),
    object: stall(level("privileged")),
  },
];
