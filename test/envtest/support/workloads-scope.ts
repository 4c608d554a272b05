import { awsKindsAnnotation, labelKeys } from "../../../lib/labels.ts";
import { allows, type Cases, type Requested, refuses, tenantNamespace } from "./admission-request.ts";

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
  allows("a namespace of an application")(namespaceWith("stall", { ...tenant, ...enforced })),
  allows("a namespace that gets a quota of kinds in AWS", { from: namespaceWith("stall", { ...tenant, ...enforced }) })(
    namespaceWith("stall", { ...tenant, ...enforced }, { [awsKindsAnnotation]: "s3.Bucket" }),
  ),
  refuses("a namespace of nobody", elsewhere("Namespace stall"))(namespaceWith("stall", enforced)),
  refuses("a namespace that becomes an application's", elsewhere("Namespace stall"), {
    from: namespaceWith("stall", enforced),
  })(namespaceWith("stall", { ...tenant, ...enforced })),
  refuses(
    "an add-on's namespace before the add-on",
    elsewhere("Namespace velero"),
  )(namespaceWith("velero", { ...tenant, ...enforced })),
  refuses(
    "a namespace that is called like the system's",
    elsewhere("Namespace kube-stall"),
  )(namespaceWith("kube-stall", { ...tenant, ...enforced })),
  ...[{}, { "pod-security.kubernetes.io/enforce": "privileged" }].map((labels) =>
    refuses(
      `a namespace of privileged pods, by ${JSON.stringify(labels)}`,
      "pod-security.kubernetes.io/enforce: restricted or baseline; got Namespace stall",
    )(namespaceWith("stall", { ...tenant, ...labels })),
  ),
  allows("an object in a namespace of an application")(configMap(tenantNamespace)),
  ...["kube-system", "flux-system", "default", "argocd"].map((namespace) =>
    refuses(`an object in ${namespace}`, elsewhere(`ConfigMap ${namespace}/trial`))(configMap(namespace)),
  ),
  refuses(
    "an object of no namespace",
    elsewhere("ClusterRoleBinding trial"),
  )(
    object(
      "rbac.authorization.k8s.io/v1",
      "ClusterRoleBinding",
      { name: "trial" },
      { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" }, subjects: [] },
    ),
  ),
  allows("a Kustomization beside its own")(ownStep),
  allows("a Kustomization beside its own, changed", { from: ownStep })(step({ interval: "1h" }, own)),
  refuses("the platform's Kustomization", elsewhere("Kustomization flux-system/trial"), {
    from: step({}, { [owner]: "tools" }),
  })(step({ interval: "1h" }, { [owner]: "tools" })),
  refuses("the platform's Kustomization under its own label", elsewhere("Kustomization flux-system/trial"), {
    from: step({}),
  })(step({}, own)),
  ...Object.entries({
    "with the rights of the administrator": { serviceAccountName: "kustomize-controller" },
    "with no identity": { serviceAccountName: undefined },
    "that reads a Secret of the platform": substituting("Secret"),
    "that decrypts with keys of the platform": { decryption: { provider: "sops" } },
    "that asks after what is in a Secret": {
      healthChecks: [{ apiVersion: "v1", kind: "Secret", name: "gitops-system", namespace: "flux-system" }],
    },
  }).map(([what, spec]) => refuses(`a Kustomization ${what}`, identity)(step(spec))),
  allows("a cluster of Argo CD")(secret(cluster)),
  refuses("a Secret of Argo CD itself", elsewhere("Secret argocd/argocd-secret"))(secret({}, "argocd-secret")),
  refuses("a Secret of Argo CD itself that becomes a cluster", elsewhere("Secret argocd/trial"), { from: secret({}) })(
    secret(cluster),
  ),
].map((each) => ({ ...each, by: workloadsAccount }));

/** Objects that Flux removes as this identity. */
export const removedByWorkloads: Cases = [
  allows("the removal of an application's namespace")(namespaceWith("stall", tenant)),
  refuses("the removal of a platform's namespace", elsewhere("Namespace velero"))(namespaceWith("velero", {})),
  allows("the removal of an application's object")(configMap(tenantNamespace)),
  refuses("the removal of a platform's object", elsewhere("ConfigMap flux-system/trial"))(configMap("flux-system")),
  allows("the removal of a Kustomization of its own")(ownStep),
  refuses(
    "the removal of the platform's Kustomization",
    elsewhere("Kustomization flux-system/trial"),
  )(step({}, { [owner]: "tools" })),
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
  allows(`a ${kind} for its own cluster`, { by: deployer })(remote(kind, tenantNamespace)),
  ...[workloadsAccount, deployer, undefined].flatMap((by) =>
    Object.entries(forms).map(([form, ref]) => ({
      title: `a ${kind} for another API server, by ${form}, of ${by ?? "an administrator"}`,
      object: remote(kind, tenantNamespace, { [form]: ref }),
      refused: `remove spec.kubeConfig; got ${kind} ${tenantNamespace}/trial`,
      ...(by && { by }),
    })),
  ),
  ...["default", "flux-system"].map((namespace) =>
    refuses(
      `a ${kind} for another API server in ${namespace}`,
      `remove spec.kubeConfig; got ${kind} ${namespace}/trial`,
    )(remote(kind, namespace, { configMapRef: { name: "evil" } })),
  ),
  refuses(
    `a ${kind} that is turned to another API server`,
    `remove spec.kubeConfig; got ${kind} ${tenantNamespace}/trial`,
    { from: remote(kind, tenantNamespace) },
  )(remote(kind, tenantNamespace, { secretRef: { name: "evil" } })),
]);

const stall = (labels: Record<string, string>) => namespaceWith("stall", labels);
const level = (enforce: string) => ({ "pod-security.kubernetes.io/enforce": enforce });

/** What tools/base/policies/tenant-namespaces.yaml says of a change of a namespace, of any user. */
export const tenantNamespaces: Cases = [
  allows("another label of an application's namespace", { from: stall({ ...tenant, ...enforced }) })(
    stall({ ...tenant, ...enforced, team: "a" }),
  ),
  allows("a lower level of an application's namespace", { from: stall({ ...tenant, ...enforced }) })(
    stall({ ...tenant, ...level("baseline") }),
  ),
  allows("another label of an application's namespace from before the rule", { from: stall(tenant) })(
    stall({ ...tenant, team: "a" }),
  ),
  refuses(
    "an application's namespace that becomes another one",
    "keeps the label fleet.internal/tenant; got Namespace stall without it",
    { from: stall({ ...tenant, ...enforced }) },
  )(stall(enforced)),
  ...Object.entries({ none: {}, privileged: level("privileged") }).map(([name, labels]) =>
    refuses(
      `an application's namespace with the level ${name}`,
      `restricted or baseline; got Namespace stall with ${name}`,
      { from: stall({ ...tenant, ...enforced }) },
    )(stall({ ...tenant, ...labels })),
  ),
  allows("a namespace of the platform that gets privileged pods", { from: stall(enforced) })(
    stall(level("privileged")),
  ),
];
