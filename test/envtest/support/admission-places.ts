import { example } from "../../functions/spoke/support/fixtures.ts";
import { allows, type Cases, type Requested, refuses, removals, tenantNamespace } from "./admission-request.ts";

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
  allows("the fleet's own")(git("flux-system/it", `${host}/gitops-system.git`, ref("gitops-system"))),
  allows("another repository of the host, as another user")(git("flux-system/it", host.replace("git@", "me@"))),
  allows("the workloads")(git("flux-system/it", `${host}/gitops-workloads.git`, ref("gitops-workloads"))),
  allows("an application's")(git(`${tenantNamespace}/it`, `${host}/app.git`, ref("payment-app-git"))),
  allows("one of the generic provider")(git("flux-system/it", `${host}/gitops-system.git`, { provider: "generic" })),
  refuses(
    "a Secret of the fleet's name in another namespace",
    "spec.secretRef names a Git credential: a Secret whose name ends with -git",
  )(git(`${tenantNamespace}/it`, `${host}/gitops-system.git`, ref("gitops-system"))),
  refuses(
    "a GitHub App, where Git is read over SSH",
    "spec.provider must be generic, or github for a GitHub App over https://; got github",
  )(git("flux-system/it", `${host}/gitops-system.git`, { provider: "github" })),
  refuses(
    "another host",
    `Git is read only from the hosts of ${host}/gitops-system.git, ${host}/gitops-workloads.git (platform/policies/parameters.yaml, git_hosts); got ssh://evil.example`,
  )(git("flux-system/it", "ssh://git@evil.example/gitops-system.git")),
  refuses(
    "a host that begins like the fleet's",
    "got ssh://git.fleet.internal.evil.example:2222",
  )(git("flux-system/it", `${host.replace(":2222", ".evil.example:2222")}/gitops-system.git`)),
  refuses(
    "a host behind the fleet's as a user",
    "got ssh://evil.example",
  )(git("flux-system/it", "ssh://git.fleet.internal:2222@evil.example/gitops-system.git")),
  refuses(
    "the host over another protocol",
    "got https://git.fleet.internal:2222",
  )(git("flux-system/it", "https://git.fleet.internal:2222/gitops-system.git")),
  refuses(
    "a password in the URL",
    "spec.url holds a password",
  )(git("flux-system/it", "ssh://git:secret@git.fleet.internal:2222/gitops-system.git")),
  refuses(
    "a Secret that nobody judges",
    "spec.secretRef names a Git credential: a Secret whose name ends with -git",
  )(git("flux-system/it", `${host}/gitops-system.git`, ref("innocent"))),
  refuses(
    "the rights of the cloud in place of the credential",
    "spec.provider must be generic, or github for a GitHub App over https://; got azure",
  )(git("flux-system/it", `${host}/gitops-system.git`, { provider: "azure" })),
  refuses(
    "submodules, whose hosts are in the repository",
    "spec.recurseSubmodules would read Git from wherever .gitmodules says",
  )(git("flux-system/it", `${host}/gitops-system.git`, { recurseSubmodules: true })),
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
  allows("a Spoke in the hub's region and account")(spoke({ region: "us-east-1" })),
  allows("a Spoke that names an allowed account")(spoke({ account: account(own) })),
  refuses(
    "a Spoke in another region",
    "a Spoke may be in us-east-1 (platform/policies/parameters.yaml, spoke_regions); got eu-central-1",
  )(spoke({ region: "eu-central-1" })),
  refuses(
    "a Spoke in another account",
    "Spoke trial may be for the accounts 000000000000 (platform/policies/parameters.yaml, spoke_accounts); got 999999999999",
  )(spoke({ account: account("999999999999") })),
  allows("a ProviderConfig with the pod's role")(config({ credentials: { source: "IRSA" } })),
  refuses(
    "a ProviderConfig with something that is not a role",
    "got arn:aws:iam",
  )(config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: "arn:aws:iam" }] })),
  refuses(
    "a ClusterProviderConfig with a stored key",
    "ClusterProviderConfig trial must take an IAM role",
  )({
    apiVersion: "aws.m.upbound.io/v1beta1",
    kind: "ClusterProviderConfig",
    metadata: { name: "trial" },
    spec: { credentials: { source: "Secret", secretRef: { namespace: "spokes", name: "aws", key: "credentials" } } },
  }),
  allows("a ProviderConfig with a role of an allowed account")(
    config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role(own) }] }),
  ),
  refuses(
    "a ProviderConfig with a role of another account",
    "ProviderConfig trial may be for the accounts 000000000000",
  )(config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role("999999999999") }] })),
  refuses(
    "a ProviderConfig with a stored key",
    "ProviderConfig trial must take an IAM role: spec.credentials.source IRSA, PodIdentity or WebIdentity; got Secret",
  )(config({ credentials: { source: "Secret", secretRef: { namespace: "spokes", name: "aws", key: "credentials" } } })),
  ...removals(
    config({ credentials: { source: "IRSA" } }),
    config({ credentials: { source: "IRSA" }, assumeRoleChain: [{ roleARN: role("999999999999") }] }),
    "ProviderConfig trial may be for the accounts 000000000000",
  ),
];

/** What policies/spoke-fleet.yaml judges. */
export const fleets: Cases = [
  allows("a Spoke of the hub's fleet")(spoke({})),
  refuses(
    "a Spoke of another fleet",
    "Spoke trial must have the label fleet.internal/fleet: fleet, the fleet of this hub; got fleet-prod",
  )(spoke({}, "fleet-prod")),
  refuses("a new Spoke of no fleet", "the fleet of this hub; got none")(unlabelled()),
  refuses("a Spoke that goes over to another fleet", "got fleet-prod", { from: spoke({}) })(spoke({}, "fleet-prod")),
  refuses("a Spoke that loses its fleet", "got none", { from: spoke({}) })(unlabelled()),
  ...removals(spoke({}), spoke({}, "fleet-prod"), "got fleet-prod"),
];

/** Changes of Spokes that the rule rejects, whose finalizers go all the same; without an API server, which would not take them first. */
export const unlabelledSpokes: Cases = [
  allows("another change of a Spoke without its fleet", { from: unlabelled() })(unlabelled({ tenant: "other" })),
  allows("a Spoke without its fleet that gets it", { from: unlabelled() })(spoke({})),
  refuses("a Spoke without its fleet that gets another one", "got fleet-prod", { from: unlabelled() })(
    spoke({}, "fleet-prod"),
  ),
];

const charts = "https://charts.fleet.internal";
const place = `${tenantNamespace}/it`;

/** What policies/tenant-source.yaml judges. */
export const tenantSources: Cases = [
  allows("a repository beside gitops-workloads")(git(place, `${host}/payment-app-manifests.git`)),
  allows("the fleet's charts")(source("HelmRepository", place, { url: charts })),
  allows("charts below the fleet's")(source("HelmRepository", place, { url: `${charts}/payments/` })),
  allows("anything in a namespace of the platform")(
    source("HelmRepository", "flux-system/it", { url: "https://charts.example" }),
  ),
  refuses(
    "other charts",
    "HelmRepositorys of a tenant are below https://charts.fleet.internal/ (platform/policies/parameters.yaml, tenant_sources); got https://charts.example",
  )(source("HelmRepository", place, { url: "https://charts.example" })),
  refuses(
    "charts of a host that begins alike",
    "got https://charts.fleet.internal.evil.example",
  )(source("HelmRepository", place, { url: `${charts}.evil.example` })),
  refuses(
    "an OCI artifact",
    "got oci://ghcr.io/somebody/manifests",
  )(source("OCIRepository", place, { url: "oci://ghcr.io/somebody/manifests" })),
  refuses(
    "a bucket",
    "got s3://s3.amazonaws.com/manifests",
  )(source("Bucket", place, { bucketName: "manifests", endpoint: "s3.amazonaws.com" })),
  refuses(
    "a bucket with the credentials of another endpoint",
    "remove spec.sts: a Bucket of a tenant gets no credentials from an endpoint that it names; got Bucket it",
  )(
    source("Bucket", place, {
      ...{ bucketName: "manifests", endpoint: "s3.amazonaws.com", provider: "aws" },
      sts: { provider: "aws", endpoint: "https://sts.example.com" },
    }),
  ),
  refuses(
    "a repository that only begins below an allowed place",
    "GitRepositorys of a tenant are below",
  )(git(place, `${host}/a/../../b.git`)),
  ...["x%2f..%2f..%2fevil/x.git", "x%2F..%2Fevil.git", "x%5c..%5cevil.git"].map((path) =>
    refuses(
      `a repository whose path is coded as ${path}`,
      "GitRepositorys of a tenant are below",
    )(git(place, `${host}/${path}`)),
  ),
  ...removals(
    source("HelmRepository", place, { url: charts }),
    source("HelmRepository", place, { url: "https://charts.example" }),
    "got https://charts.example",
  ),
];
