import { labelKeys } from "../../../lib/labels.ts";
import type { Cases, Requested } from "./admission-request.ts";

/** What Crossplane's pods write on the hub and on spokes, and what platform/crossplane/policies says of it. */

const account = (name: string) => `system:serviceaccount:crossplane-system:${name}`;
const core = account("crossplane");
const provider = account("provider-aws-rds");

/** A namespace of an application, beside those of the other cases: a control plane has to have it. */
export const labelledNamespace = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "ledgers", labels: { [labelKeys.tenant]: "payments" } },
};
const tenant = labelledNamespace.metadata.name;

const object = (apiVersion: string, kind: string, namespace: string, more: object = {}): Requested => ({
  apiVersion,
  kind,
  metadata: { name: "trial", namespace },
  ...more,
});
const secret = (namespace: string, type = "Opaque", name = "trial"): Requested => ({
  ...object("v1", "Secret", namespace, { type }),
  metadata: {
    ...{ name, namespace },
    // Kubernetes wants it of the token of an account.
    ...(type.startsWith("kubernetes.io/") && { annotations: { "kubernetes.io/service-account.name": "default" } }),
  },
});
const changed = (each: Requested): Requested => ({ ...each, metadata: { ...each.metadata, labels: { a: "b" } } });
const connection = "connection.crossplane.io/v1alpha1";
const configMap = (namespace: string) => object("v1", "ConfigMap", namespace);
const labels = { app: "trial" };
const deployment = (namespace: string, serviceAccountName: string) =>
  object("apps/v1", "Deployment", namespace, {
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { serviceAccountName, containers: [{ name: "it", image: "example.com/it:1" }] },
      },
    },
  });
const lease = (namespace: string) => object("coordination.k8s.io/v1", "Lease", namespace);

const written = (kind: string, namespace: string) =>
  `Secrets of applications, and in spokes what a Spoke is composed of; got ${kind} ${namespace}/trial`;
const by = (user: string, cases: Cases): Cases => cases.map((each) => ({ ...each, by: user }));

export const crossplaneScope: Cases = [
  ...by(core, [
    { title: "a certificate of Crossplane", object: secret("crossplane-system", "Opaque") },
    { title: "a Deployment of a package", object: deployment("crossplane-system", "provider-aws-rds") },
    {
      title: "a Deployment under its own account",
      object: deployment("crossplane-system", "crossplane"),
      refused: "runs packages under accounts of their own; got Deployment trial under crossplane",
    },
    {
      title: "a Deployment in the namespace of Flux",
      object: deployment("flux-system", "kustomize-controller"),
      refused: written("Deployment", "flux-system"),
    },
    {
      title: "a ServiceAccount in the namespace of Flux",
      object: object("v1", "ServiceAccount", "flux-system"),
      refused: written("ServiceAccount", "flux-system"),
    },
    {
      title: "a Service in the namespace of Flux",
      object: object("v1", "Service", "flux-system", { spec: { ports: [{ port: 80 }] } }),
      refused: written("Service", "flux-system"),
    },
    { title: "what a Spoke is composed of", object: secret("spokes") },
    { title: "what a Spoke is composed of, in the open", object: configMap("spokes") },
  ]),
  ...by(provider, [
    { title: "connection details of a Spoke", object: secret("spokes", connection) },
    {
      title: "new connection details of a Spoke",
      from: secret("spokes", connection),
      object: changed(secret("spokes", connection)),
    },
    { title: "a password of an application", object: secret(tenant) },
    { title: "a lease of its own", object: lease("crossplane-system") },
    ...["flux-system", "kube-system"].flatMap((namespace) => [
      { title: `a Secret in ${namespace}`, object: secret(namespace), refused: written("Secret", namespace) },
      { title: `a ConfigMap in ${namespace}`, object: configMap(namespace), refused: written("ConfigMap", namespace) },
      { title: `a lease in ${namespace}`, object: lease(namespace), refused: written("Lease", namespace) },
    ]),
    {
      title: "a change of a Secret in flux-system",
      from: secret("flux-system"),
      object: changed(secret("flux-system")),
      refused: written("Secret", "flux-system"),
    },
    { title: "facts about a Spoke", object: secret("spokes"), refused: written("Secret", "spokes") },
    { title: "facts about a Spoke, in the open", object: configMap("spokes"), refused: written("ConfigMap", "spokes") },
    { title: "a ConfigMap of an application", object: configMap(tenant), refused: written("ConfigMap", tenant) },
    ...[tenant, "crossplane-system"].flatMap((namespace) =>
      ["kubernetes.io/service-account-token", "helm.sh/release.v1"].map((type) => ({
        title: `a Secret of type ${type} in ${namespace}`,
        object: secret(namespace, type),
        refused: `a service account's token or a Helm release; got Secret ${namespace}/trial of type ${type}`,
      })),
    ),
    {
      title: "a release of Helm of another type",
      object: {
        ...secret("crossplane-system"),
        metadata: { ...secret("crossplane-system").metadata, labels: { owner: "helm" } },
      },
      refused: "a service account's token or a Helm release; got Secret crossplane-system/trial",
    },
  ]),
  {
    title: "a Secret that somebody else writes",
    object: secret("flux-system"),
    by: "system:serviceaccount:flux-system:kustomize-controller",
  },
];

const config = (kind: string, spec: object, more: object = {}): Requested => ({
  apiVersion: "aws.m.upbound.io/v1beta1",
  kind,
  metadata: { name: "trial", ...(kind === "ProviderConfig" && { namespace: tenant }), ...more },
  spec: { credentials: { source: "IRSA" }, ...spec },
});
const endpoint = { endpoint: { url: { type: "Static", static: "https://evil.example" }, services: ["eks"] } };
const role = { assumeRoleChain: [{ roleARN: "arn:aws:iam::111122223333:role/evil" }] };

const configCases = (kind: string, what: string, spec: object): Cases => {
  const change = { from: config(kind, {}), object: config(kind, spec) };
  return [
    {
      ...change,
      title: `${what} of a ${kind}`,
      by: account("provider-family-aws"),
      refused: `don't change spec of ${kind} trial: change it in Git`,
    },
    { ...change, title: `${what} of a ${kind}, by Git`, by: "system:serviceaccount:flux-system:kustomize-controller" },
  ];
};

/** What the providers' accounts change of ProviderConfigs. */
export const providerConfigs: Cases = ["ClusterProviderConfig", "ProviderConfig"].flatMap((kind) => [
  ...configCases(kind, "a role", role),
  {
    title: `the finalizer of a ${kind}`,
    from: config(kind, {}),
    object: config(kind, {}, { finalizers: ["in-use.crossplane.io"] }),
    by: account("provider-family-aws"),
  },
]);

/** The local stack's definitions don't have the field, so that its API server drops it before it judges. */
export const endpoints: Cases = ["ClusterProviderConfig", "ProviderConfig"].flatMap((kind) =>
  configCases(kind, "an endpoint", endpoint),
);

/** A token is requested of a subresource, which no manifest can do. */
export const tokenRequest = object("authentication.k8s.io/v1", "TokenRequest", "crossplane-system", {
  spec: { audiences: [] },
});
export const tokenRefused = "Crossplane's service accounts request no tokens of service accounts";

export const removedByCrossplane: Cases = by(provider, [
  { title: "the removal of a password of an application", object: secret(tenant) },
  {
    title: "the removal of a Secret in flux-system",
    object: secret("flux-system"),
    refused: written("Secret", "flux-system"),
  },
]);
