import { example } from "../../functions/spoke/support/fixtures.ts";
import { type Cases, type Requested, removals, tenantNamespace } from "./admission-request.ts";

const own = "000000000000";
const host = "ssh://git@git.fleet.internal:2222";

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

/** What policies/git-source.yaml judges. */
export const gitSources: Cases = [
  { title: "the fleet's own", object: git("flux-system/it", `${host}/gitops-system.git`, ref("gitops-system")) },
  {
    title: "another repository of the host, as another user",
    object: git("flux-system/it", host.replace("git@", "me@")),
  },
  { title: "the workloads", object: git("flux-system/it", `${host}/gitops-workloads.git`, ref("gitops-workloads")) },
  { title: "an application's", object: git(`${tenantNamespace}/it`, `${host}/app.git`, ref("payment-app-git")) },
  {
    title: "one of the generic provider",
    object: git("flux-system/it", `${host}/gitops-system.git`, { provider: "generic" }),
  },
  {
    title: "a Secret of the fleet's name in another namespace",
    object: git(`${tenantNamespace}/it`, `${host}/gitops-system.git`, ref("gitops-system")),
    refused: "spec.secretRef names a Git credential: a Secret whose name ends with -git",
  },
  {
    title: "a GitHub App, where Git is read over SSH",
    object: git("flux-system/it", `${host}/gitops-system.git`, { provider: "github" }),
    refused: "spec.provider must be generic, or github for a GitHub App over https://; got github",
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
  {
    title: "submodules, whose hosts are in the repository",
    object: git("flux-system/it", `${host}/gitops-system.git`, { recurseSubmodules: true }),
    refused: "spec.recurseSubmodules would read Git from wherever .gitmodules says",
  },
  ...removals(
    git("flux-system/it", `${host}/gitops-system.git`),
    git("flux-system/it", "ssh://git@evil.example/gitops-system.git"),
    "got ssh://evil.example",
  ),
];

function ref(name: string) {
  return { secretRef: { name } };
}

function spoke(change: Record<string, unknown>, fleet = "fleet"): Requested {
  const { apiVersion, kind, metadata, spec } = example("minimal") as unknown as Requested & { spec: object };
  const labels = { "fleet.internal/fleet": fleet };
  return {
    apiVersion,
    kind,
    metadata: { name: "trial", namespace: metadata.namespace ?? "spokes", labels },
    spec: { ...spec, ...change },
  };
}
/** One without the label of its fleet. */
const unlabelled = (change: Record<string, unknown> = {}): Requested => {
  const { labels: _, ...metadata } = spoke(change).metadata;
  return { ...spoke(change), metadata };
};
const account = (id: string) => ({ id, providerConfigRef: { kind: "ProviderConfig", name: "aws" } });
const config = (spec: Record<string, unknown>): Requested => ({
  apiVersion: "aws.m.upbound.io/v1beta1",
  kind: "ProviderConfig",
  metadata: { name: "trial", namespace: "spokes" },
  spec,
});
const role = (id: string) => `arn:aws:iam::${id}:role/fleet-crossplane`;

/** What policies/spoke-placement.yaml judges. */
export const placements: Cases = [
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
    title: "a ProviderConfig with something that is not a role",
    object: config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: "arn:aws:iam" }] }),
    refused: "got arn:aws:iam",
  },
  {
    title: "a ClusterProviderConfig with a stored key",
    object: {
      apiVersion: "aws.m.upbound.io/v1beta1",
      kind: "ClusterProviderConfig",
      metadata: { name: "trial" },
      spec: { credentials: { source: "Secret", secretRef: { namespace: "spokes", name: "aws", key: "credentials" } } },
    },
    refused: "ClusterProviderConfig trial must take an IAM role",
  },
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
  ...removals(
    config({ credentials: { source: "IRSA" } }),
    config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role("999999999999") }] }),
    "ProviderConfig trial may be for the accounts 000000000000",
  ),
];

/** What policies/spoke-fleet.yaml judges. */
export const fleets: Cases = [
  { title: "a Spoke of the hub's fleet", object: spoke({}) },
  {
    title: "a Spoke of another fleet",
    object: spoke({}, "fleet-prod"),
    refused: "Spoke trial must have the label fleet.internal/fleet: fleet, the fleet of this hub; got fleet-prod",
  },
  { title: "a new Spoke of no fleet", object: unlabelled(), refused: "the fleet of this hub; got none" },
  {
    title: "a Spoke that goes over to another fleet",
    from: spoke({}),
    object: spoke({}, "fleet-prod"),
    refused: "got fleet-prod",
  },
  { title: "a Spoke that loses its fleet", from: spoke({}), object: unlabelled(), refused: "got none" },
  ...removals(spoke({}), spoke({}, "fleet-prod"), "got fleet-prod"),
];

/** Changes of Spokes that the rule rejects, whose finalizers go all the same; without an API server, which would not take them first. */
export const unlabelledSpokes: Cases = [
  { title: "another change of a Spoke without its fleet", from: unlabelled(), object: unlabelled({ tenant: "other" }) },
  { title: "a Spoke without its fleet that gets it", from: unlabelled(), object: spoke({}) },
  {
    title: "a Spoke without its fleet that gets another one",
    from: unlabelled(),
    object: spoke({}, "fleet-prod"),
    refused: "got fleet-prod",
  },
];

const charts = "https://charts.fleet.internal";
const place = `${tenantNamespace}/it`;

/** What policies/tenant-source.yaml judges. */
export const tenantSources: Cases = [
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
    title: "a bucket with the credentials of another endpoint",
    object: source("Bucket", place, {
      ...{ bucketName: "manifests", endpoint: "s3.amazonaws.com", provider: "aws" },
      sts: { provider: "aws", endpoint: "https://sts.example.com" },
    }),
    refused: "remove spec.sts: a Bucket of a tenant gets no credentials from an endpoint that it names; got Bucket it",
  },
  {
    title: "a repository that only begins below an allowed place",
    object: git(place, `${host}/a/../../b.git`),
    refused: "GitRepositorys of a tenant are below",
  },
  ...["x%2f..%2f..%2fevil/x.git", "x%2F..%2Fevil.git", "x%5c..%5cevil.git"].map((path) => ({
    title: `a repository whose path is coded as ${path}`,
    object: git(place, `${host}/${path}`),
    refused: "GitRepositorys of a tenant are below",
  })),
  ...removals(
    source("HelmRepository", place, { url: charts }),
    source("HelmRepository", place, { url: "https://charts.example" }),
    "got https://charts.example",
  ),
];
