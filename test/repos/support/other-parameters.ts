import type { Manifest } from "./kustomize.ts";

/**
 * Requests to a fleet with other parameters than the embedded cloud's: its Git hosts are reached over HTTPS, or over both. And
 * ProviderConfigs of forms that the provider has and the embedded cloud's stand-in does not: its API server refuses them unread.
 */

export interface OtherCase {
  readonly policy: string;
  readonly title: string;
  readonly object: Manifest;
  readonly parameters: Manifest;
  /** The object before; absent when it is new. */
  readonly from?: Manifest;
  /** A part of the message; absent when the object is let through. */
  readonly refused?: string;
}

const parameters = (data: Record<string, string>): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "admission-parameters", namespace: "flux-system" },
  data,
});
// Blanks are not part of a line.
const https = parameters({ git_hosts: "  https://git.example.com/org/gitops-system.git \n" });
const both = parameters({ git_hosts: "https://git.example.com/org/a.git\nssh://git@git.example.org/b.git\n" });

const secret = (...keys: string[]): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "app-git", namespace: "payment-app" },
  type: "Opaque",
  data: Object.fromEntries(keys.map((key) => [key, "dmFsdWU="])),
});
const app = ["githubAppID", "githubAppInstallationID", "githubAppInstallationOwner", "githubAppPrivateKey"];
const deployKey = ["identity", "identity.pub", "known_hosts"];
const forms =
  "a Git credential here has the keys username, password, ca.crt, or githubAppID, githubAppInstallationID, githubAppInstallationOwner, githubAppPrivateKey, githubAppBaseURL, ca.crt (platform/policies/parameters.yaml, git_hosts)";

const credentials: readonly Omit<OtherCase, "policy">[] = [
  { title: "a token", object: secret("username", "password"), parameters: https },
  { title: "a token and the host's CA", object: secret("username", "password", "ca.crt"), parameters: https },
  { title: "a GitHub App", object: secret(...app), parameters: https },
  {
    title: "a GitHub App of a host of one's own",
    object: secret(...app, "githubAppBaseURL", "ca.crt"),
    parameters: https,
  },
  {
    title: "a deploy key, where Git is read over HTTPS",
    object: secret(...deployKey),
    parameters: https,
    refused: `${forms}; got identity, identity.pub, known_hosts`,
  },
  { title: "a token with a GitHub App", object: secret("password", ...app), parameters: https, refused: forms },
  { title: "a deploy key, where there are hosts of both kinds", object: secret(...deployKey), parameters: both },
  { title: "a token, where there are hosts of both kinds", object: secret("username", "password"), parameters: both },
];

const source = (url: string, spec: object = {}): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "GitRepository",
  metadata: { name: "it", namespace: "flux-system" },
  spec: { interval: "1m", url, ref: { branch: "main" }, ...spec },
});

const sources: readonly Omit<OtherCase, "policy">[] = [
  { title: "a host over HTTPS", object: source("https://git.example.com/org/x.git"), parameters: https },
  {
    title: "a host over HTTPS by a GitHub App",
    object: source("https://git.example.com/org/x.git", { provider: "github" }),
    parameters: https,
  },
  {
    title: "a host over SSH, where Git is read over HTTPS",
    object: source("ssh://git@git.example.com/org/x.git"),
    parameters: https,
    refused: "got ssh://git.example.com",
  },
  {
    title: "a GitHub App over SSH, where there are hosts of both kinds",
    object: source("ssh://git@git.example.org/x.git", { provider: "github" }),
    parameters: both,
    refused: "spec.provider must be generic, or github for a GitHub App over https://; got github",
  },
  {
    title: "the rights of the cloud over HTTPS",
    object: source("https://git.example.com/org/x.git", { provider: "azure" }),
    parameters: https,
    refused: "got azure",
  },
  {
    title: "an address that is not a URL",
    object: source("git@git.example.com:org/x.git"),
    parameters: https,
    refused: "got git@git.example.com:org/x.git",
  },
];

const spoke = (region: string, id: string): Manifest => ({
  apiVersion: "fleet.internal/v1alpha1",
  kind: "Spoke",
  metadata: { name: "blue", namespace: "spokes" },
  spec: { region, account: { id } },
});
const places = parameters({ spoke_regions: " eu-west-1 \n us-east-1\n", spoke_accounts: " 111111111111 \n" });

const config = (credentials: object): Manifest => ({
  apiVersion: "aws.m.upbound.io/v1beta1",
  kind: "ProviderConfig",
  metadata: { name: "trial", namespace: "spokes" },
  spec: { credentials },
});
const webIdentity = (more: object) =>
  config({ source: "WebIdentity", webIdentity: { tokenConfig: { source: "Secret" }, ...more } });
const role = (id: string) => ({ roleARN: `arn:aws:iam::${id}:role/fleet-crossplane` });

const placements: readonly Omit<OtherCase, "policy">[] = [
  {
    title: "a ProviderConfig with the pod's identity",
    object: config({ source: "PodIdentity" }),
    parameters: places,
  },
  { title: "a ProviderConfig with a token of its own", object: webIdentity({}), parameters: places },
  {
    title: "a ProviderConfig with a token for a role of an allowed account",
    object: webIdentity(role("111111111111")),
    parameters: places,
  },
  {
    title: "a ProviderConfig with a token for a role of another account",
    object: webIdentity(role("999999999999")),
    parameters: places,
    refused: "ProviderConfig trial may be for the accounts 111111111111",
  },
  { title: "a Spoke in one of several regions", object: spoke("us-east-1", "111111111111"), parameters: places },
  { title: "a Spoke in the first of them", object: spoke("eu-west-1", "111111111111"), parameters: places },
];

const charts = (url: string): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "HelmRepository",
  metadata: { name: "it", namespace: "payment-app" },
  spec: { url },
});
const bucket = (sts?: object): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "Bucket",
  metadata: { name: "it", namespace: "payment-app" },
  spec: { bucketName: "payments", endpoint: "s3.amazonaws.com", provider: "aws", ...(sts && { sts }) },
});
const buckets = parameters({ tenant_repositories_beside: "", tenant_sources: "s3://s3.amazonaws.com/payments" });
const folders = parameters({
  tenant_repositories_beside: " https://git.example.com/org/x.git \n",
  tenant_sources: " https://charts.example.com/payments/ \n",
});

const tenantSources: readonly Omit<OtherCase, "policy">[] = [
  {
    title: "charts below an address that ends with a slash",
    object: charts("https://charts.example.com/payments/x"),
    parameters: folders,
  },
  {
    title: "charts beside such an address",
    object: charts("https://charts.example.com/payments-of-others/x"),
    parameters: folders,
    refused: "HelmRepositorys of a tenant are below https://charts.example.com/payments/ (",
  },
  { title: "an allowed bucket", object: bucket(), parameters: buckets },
  {
    title: "an allowed bucket with the credentials of another endpoint",
    object: bucket({ provider: "aws", endpoint: "https://sts.example.com" }),
    parameters: buckets,
    refused: "remove spec.sts: a Bucket of a tenant gets no credentials from an endpoint that it names; got Bucket it",
  },
  {
    title: "a repository beside the workloads",
    object: {
      ...source("https://git.example.com/org/app.git"),
      metadata: { name: "it", namespace: "payment-app" },
    },
    parameters: folders,
  },
  {
    title: "a repository of an organisation that is called alike",
    object: {
      ...source("https://git.example.com/org-of-others/app.git"),
      metadata: { name: "it", namespace: "payment-app" },
    },
    parameters: folders,
    refused: "GitRepositorys of a tenant are below https://git.example.com/org/",
  },
];

/** What the Argo CD of a spoke knows, with an Application as the parameter. */
const listed = (namespaces?: string, name = "cluster-blue"): Manifest => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name,
    namespace: "argocd",
    ...(namespaces !== undefined && { annotations: { "fleet.internal/argocd-namespaces": namespaces } }),
  },
});
const goesTo = (namespace?: string): Manifest => ({
  apiVersion: "argoproj.io/v1alpha1",
  kind: "Application",
  metadata: { name: "app", namespace: "argocd" },
  spec: { destination: namespace === undefined ? {} : { namespace } },
});
const stays =
  "Secret cluster-blue lists shop until Argo CD has removed what it made there; Application app still exists";

const lists: readonly Omit<OtherCase, "policy">[] = [
  {
    title: "a list without a namespace to which an Application goes",
    from: listed("search,shop"),
    object: listed("search"),
    parameters: goesTo("shop"),
    refused: stays,
  },
  {
    title: "no list any more",
    from: listed("shop"),
    object: listed(),
    parameters: goesTo("shop"),
    refused: stays,
  },
  {
    title: "a list without a namespace to which none goes",
    from: listed("search,shop"),
    object: listed("shop"),
    parameters: goesTo("shop"),
  },
  { title: "a longer list", from: listed("shop"), object: listed("search,shop"), parameters: goesTo("shop") },
  { title: "a new list", object: listed("search"), parameters: goesTo("shop") },
  { title: "a first list", from: listed(), object: listed("search"), parameters: goesTo() },
  {
    title: "a list beside an Application of a namespace that it never had",
    from: listed("search,shop"),
    object: listed("search"),
    parameters: goesTo("shops"),
  },
];

export const otherCases: readonly OtherCase[] = [
  ...lists.map((each) => ({ ...each, policy: "argocd-namespaces.fleet.internal" })),
  ...credentials.map((each) => ({ ...each, policy: "git-credential.fleet.internal" })),
  ...sources.map((each) => ({ ...each, policy: "git-source.fleet.internal" })),
  ...placements.map((each) => ({ ...each, policy: "spoke-placement.fleet.internal" })),
  ...tenantSources.map((each) => ({ ...each, policy: "tenant-source.fleet.internal" })),
];
