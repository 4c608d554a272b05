import { argocdClusterSecret } from "../../../lib/argocd.ts";
import { bridgeData, bridgeLabels, clusterSecretName, inBase64 } from "../../../lib/bridge.ts";
import { example, hub } from "../../functions/spoke/support/fixtures.ts";

/** Requests to create an object, and what each admission policy in platform/policies says of them. */

export interface AdmissionCase {
  readonly policy: string;
  /** What a reader calls the request. */
  readonly title: string;
  readonly object: Requested;
  /** A part of the message; absent when the object is let through. */
  readonly refused?: string;
}

export interface Requested {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly [member: string]: unknown;
}

/** A namespace of an application, with the label that makes it one. */
export const tenantNamespace = "payment-app";

const own = "000000000000";
const host = "ssh://git@git.fleet.internal:2222";

interface SecretOptions {
  readonly labels?: Record<string, string>;
  readonly type?: string;
}

function secret(
  place: string,
  keys: readonly string[] | Record<string, string>,
  options: SecretOptions = {},
): Requested {
  const [namespace = "", name = ""] = place.split("/");
  const values = Array.isArray(keys) ? Object.fromEntries(keys.map((key) => [key, "value"])) : keys;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: options.labels ?? {} },
    type: options.type ?? "Opaque",
    data: inBase64(values as Record<string, string>),
  };
}

const labels = bridgeLabels(hub);
const bridge = (more: Record<string, string> = {}) => ({ ...bridgeData(hub), ...more });
const hubSecret = `flux-system/${clusterSecretName("hub")}`;
const argocd = argocdClusterSecret(hub, { kind: "in-cluster" });

const clusterSecrets: readonly Omit<AdmissionCase, "policy">[] = [
  { title: "the hub's, as the program writes it", object: secret(hubSecret, bridge(), { labels }) },
  { title: "one for Argo CD", object: secret("default/cluster-hub", argocd.data, { labels: argocd.labels }) },
  { title: "a Secret about something else", object: secret("default/database", ["password"]) },
  ...["token", "bearerToken", "kubeconfig", "aws_secret_access_key", "tls.key", "aws_access_key"].map((key) => ({
    title: `one with the key ${key}`,
    object: secret(hubSecret, bridge({ [key]: "value" }), { labels }),
    refused: `a cluster secret holds facts about a cluster, never a credential: got the keys ${key}; give the consumer`,
  })),
  {
    title: "one without labels, by the name under which Flux would read it",
    object: secret("spokes/cluster-blue", ["password"]),
    refused: "never a credential: got the keys password",
  },
  {
    title: "one without labels and without a foreign key",
    object: secret("spokes/cluster-blue", ["aws_region"]),
    refused: "it needs the labels fleet.internal/cluster (its name) and fleet.internal/role (hub or spoke)",
  },
  {
    title: "one with a role that there is not",
    object: secret(hubSecret, bridge(), { labels: { ...labels, "fleet.internal/role": "admin" } }),
    refused: "it needs the labels fleet.internal/cluster",
  },
  {
    title: "one of a type that holds keys",
    object: secret(hubSecret, bridge(), { labels, type: "example.com/key" }),
    refused: "a cluster secret is of type Opaque, got example.com/key",
  },
  {
    title: "one for Argo CD with a key that Argo CD does not have",
    object: secret("default/cluster-hub", { ...argocd.data, token: "value" }, { labels: argocd.labels }),
    refused: "got the keys token",
  },
  {
    title: "a spoke's cluster-info",
    object: { ...info("flux-system"), data: bridge() },
  },
  {
    title: "a spoke's cluster-info with a token",
    object: { ...info("flux-system"), data: bridge({ token: "value" }) },
    refused: "got the keys token",
  },
  { title: "a cluster-info of somebody else", object: { ...info("default"), data: { kubeconfig: "value" } } },
];

function info(namespace: string): Requested {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cluster-info", namespace } };
}

const deployKey = ["identity", "identity.pub", "known_hosts"];
const app = ["githubAppID", "githubAppInstallationID", "githubAppPrivateKey"];
const oneForm = "a Git credential here has the keys identity, identity.pub, known_hosts";

const gitCredentials: readonly Omit<AdmissionCase, "policy">[] = [
  { title: "a deploy key", object: secret("flux-system/gitops-system", deployKey) },
  { title: "a deploy key of an application", object: secret(`${tenantNamespace}/payment-app-git`, deployKey) },
  { title: "a password that is not for Git", object: secret("default/database", ["username", "password"]) },
  {
    title: "a token, where Git is read over SSH",
    object: secret("flux-system/gitops-system", ["username", "password"]),
    refused: `${oneForm} (platform/policies/parameters.yaml, git_hosts); got password, username`,
  },
  {
    title: "a GitHub App under any name",
    object: secret(`${tenantNamespace}/innocent`, app),
    refused: oneForm,
  },
  {
    title: "a deploy key with something else",
    object: secret(`${tenantNamespace}/innocent`, [...deployKey, "password"]),
    refused: oneForm,
  },
  { title: "an empty one", object: secret("flux-system/gitops-workloads", []), refused: "got none" },
  {
    title: "a deploy key without the host's",
    object: secret(`${tenantNamespace}/payment-app-git`, ["identity"]),
    refused: "a deploy key needs known_hosts",
  },
  {
    title: "one of another type",
    object: secret("flux-system/gitops-system", deployKey, { type: "example.com/key" }),
    refused: "a Git credential is of type Opaque, got example.com/key",
  },
];

function source(kind: string, place: string, spec: Record<string, unknown>): Requested {
  const [namespace = "", name = ""] = place.split("/");
  return {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind,
    metadata: { name, namespace },
    spec: { interval: "1m", ...spec },
  };
}
const git = (place: string, url: string, more: Record<string, unknown> = {}) =>
  source("GitRepository", place, { url, ref: { branch: "main" }, ...more });

const gitSources: readonly Omit<AdmissionCase, "policy">[] = [
  { title: "the fleet's own", object: git("flux-system/it", `${host}/gitops-system.git`, ref("gitops-system")) },
  {
    title: "another repository of the host, as another user",
    object: git("flux-system/it", host.replace("git@", "me@")),
  },
  {
    title: "another host",
    object: git("flux-system/it", "ssh://git@evil.example/gitops-system.git"),
    refused: `Git is read only from the hosts of ${host}/gitops-system.git, ${host}/gitops-workloads.git (platform/policies/parameters.yaml, git_hosts); got ssh://evil.example`,
  },
  {
    title: "a host that begins like the fleet's",
    object: git("flux-system/it", `${host.replace(":2222", ".evil.example:2222")}/gitops-system.git`),
    refused: "got ssh://git.fleet.internal.evil.example:2222",
  },
  {
    title: "a host behind the fleet's as a user",
    object: git("flux-system/it", "ssh://git.fleet.internal:2222@evil.example/gitops-system.git"),
    refused: "got ssh://evil.example",
  },
  {
    title: "the host over another protocol",
    object: git("flux-system/it", "https://git.fleet.internal:2222/gitops-system.git"),
    refused: "got https://git.fleet.internal:2222",
  },
  {
    title: "a password in the URL",
    object: git("flux-system/it", "ssh://git:secret@git.fleet.internal:2222/gitops-system.git"),
    refused: "spec.url holds a password",
  },
  {
    title: "a Secret that nobody judges",
    object: git("flux-system/it", `${host}/gitops-system.git`, ref("innocent")),
    refused: "spec.secretRef names a Git credential: a Secret whose name ends with -git",
  },
  {
    title: "the rights of the cloud in place of the credential",
    object: git("flux-system/it", `${host}/gitops-system.git`, { provider: "azure" }),
    refused: "spec.provider must be generic, or github for a GitHub App over https://; got azure",
  },
];

function ref(name: string) {
  return { secretRef: { name } };
}

function spoke(change: Record<string, unknown>): Requested {
  const { apiVersion, kind, metadata, spec } = example("minimal") as unknown as Requested & { spec: object };
  return {
    apiVersion,
    kind,
    metadata: { name: "trial", namespace: metadata.namespace ?? "spokes" },
    spec: { ...spec, ...change },
  };
}
const account = (id: string) => ({ id, providerConfigRef: { kind: "ProviderConfig", name: "aws" } });
const config = (spec: Record<string, unknown>): Requested => ({
  apiVersion: "aws.m.upbound.io/v1beta1",
  kind: "ProviderConfig",
  metadata: { name: "trial", namespace: "spokes" },
  spec,
});
const role = (id: string) => `arn:aws:iam::${id}:role/fleet-crossplane`;

const placements: readonly Omit<AdmissionCase, "policy">[] = [
  { title: "a Spoke in the hub's region and account", object: spoke({ region: "us-east-1" }) },
  { title: "a Spoke that names an allowed account", object: spoke({ account: account(own) }) },
  {
    title: "a Spoke in another region",
    object: spoke({ region: "eu-central-1" }),
    refused: "a Spoke may be in us-east-1 (platform/policies/parameters.yaml, spoke_regions); got eu-central-1",
  },
  {
    title: "a Spoke in another account",
    object: spoke({ account: account("999999999999") }),
    refused:
      "Spoke trial may be for the accounts 000000000000 (platform/policies/parameters.yaml, spoke_accounts); got 999999999999",
  },
  { title: "a ProviderConfig with the pod's role", object: config({ credentials: { source: "IRSA" } }) },
  {
    title: "a ProviderConfig with a role of an allowed account",
    object: config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role(own) }] }),
  },
  {
    title: "a ProviderConfig with a role of another account",
    object: config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role("999999999999") }] }),
    refused: "ProviderConfig trial may be for the accounts 000000000000",
  },
  {
    title: "a ProviderConfig with a stored key",
    object: config({
      credentials: { source: "Secret", secretRef: { namespace: "spokes", name: "aws", key: "credentials" } },
    }),
    refused:
      "ProviderConfig trial must take an IAM role: spec.credentials.source IRSA, PodIdentity or WebIdentity; got Secret",
  },
];

const charts = "https://charts.fleet.internal";
const place = `${tenantNamespace}/it`;

const tenantSources: readonly Omit<AdmissionCase, "policy">[] = [
  { title: "a repository beside gitops-workloads", object: git(place, `${host}/payment-app-manifests.git`) },
  { title: "the fleet's charts", object: source("HelmRepository", place, { url: charts }) },
  { title: "charts below the fleet's", object: source("HelmRepository", place, { url: `${charts}/payments/` }) },
  {
    title: "anything in a namespace of the platform",
    object: source("HelmRepository", "flux-system/it", { url: "https://charts.example" }),
  },
  {
    title: "other charts",
    object: source("HelmRepository", place, { url: "https://charts.example" }),
    refused:
      "HelmRepositorys of a tenant are below https://charts.fleet.internal/ (platform/policies/parameters.yaml, tenant_sources); got https://charts.example",
  },
  {
    title: "charts of a host that begins alike",
    object: source("HelmRepository", place, { url: `${charts}.evil.example` }),
    refused: "got https://charts.fleet.internal.evil.example",
  },
  {
    title: "an OCI artifact",
    object: source("OCIRepository", place, { url: "oci://ghcr.io/somebody/manifests" }),
    refused: "got oci://ghcr.io/somebody/manifests",
  },
  {
    title: "a bucket",
    object: source("Bucket", place, { bucketName: "manifests", endpoint: "s3.amazonaws.com" }),
    refused: "got s3://s3.amazonaws.com/manifests",
  },
  {
    title: "a repository that only begins below an allowed place",
    object: git(place, `${host}/a/../../b.git`),
    refused: "GitRepositorys of a tenant are below",
  },
];

const of = (policy: string, cases: readonly Omit<AdmissionCase, "policy">[]): AdmissionCase[] =>
  cases.map((each) => ({ ...each, policy: `${policy}.fleet.internal` }));

/** At least one request that each validation of each policy refuses, and its twin that is let through. */
export const admissionCases: readonly AdmissionCase[] = [
  ...of("cluster-secret", clusterSecrets),
  ...of("git-credential", gitCredentials),
  ...of("git-source", gitSources),
  ...of("spoke-placement", placements),
  ...of("tenant-source", tenantSources),
];
