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

type Row = Omit<OtherCase, "policy">;

const allows = (title: string, object: Manifest, parameters: Manifest, from?: Manifest): Row => ({
  ...{ title, object, parameters },
  ...(from && { from }),
});
const refuses = (title: string, refused: string, object: Manifest, parameters: Manifest, from?: Manifest): Row => ({
  ...allows(title, object, parameters, from),
  refused,
});

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

const credentials: readonly Row[] = [
  allows("a token", secret("username", "password"), https),
  allows("a token and the host's CA", secret("username", "password", "ca.crt"), https),
  allows("a GitHub App", secret(...app), https),
  allows("a GitHub App of a host of one's own", secret(...app, "githubAppBaseURL", "ca.crt"), https),
  refuses(
    "a deploy key, where Git is read over HTTPS",
    `${forms}; got identity, identity.pub, known_hosts`,
    secret(...deployKey),
    https,
  ),
  refuses("a token with a GitHub App", forms, secret("password", ...app), https),
  allows("a deploy key, where there are hosts of both kinds", secret(...deployKey), both),
  allows("a token, where there are hosts of both kinds", secret("username", "password"), both),
];

const source = (url: string, spec: object = {}): Manifest => ({
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "GitRepository",
  metadata: { name: "it", namespace: "flux-system" },
  spec: { interval: "1m", url, ref: { branch: "main" }, ...spec },
});

const sources: readonly Row[] = [
  allows("a host over HTTPS", source("https://git.example.com/org/x.git"), https),
  allows(
    "a host over HTTPS by a GitHub App",
    source("https://git.example.com/org/x.git", { provider: "github" }),
    https,
  ),
  refuses(
    "a host over SSH, where Git is read over HTTPS",
    "got ssh://git.example.com",
    source("ssh://git@git.example.com/org/x.git"),
    https,
  ),
  refuses(
    "a GitHub App over SSH, where there are hosts of both kinds",
    "spec.provider must be generic, or github for a GitHub App over https://; got github",
    source("ssh://git@git.example.org/x.git", { provider: "github" }),
    both,
  ),
  refuses(
    "the rights of the cloud over HTTPS",
    "got azure",
    source("https://git.example.com/org/x.git", { provider: "azure" }),
    https,
  ),
  refuses(
    "an address that is not a URL",
    "got git@git.example.com:org/x.git",
    source("git@git.example.com:org/x.git"),
    https,
  ),
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

const placements: readonly Row[] = [
  allows("a ProviderConfig with the pod's identity", config({ source: "PodIdentity" }), places),
  allows("a ProviderConfig with a token of its own", webIdentity({}), places),
  allows("a ProviderConfig with a token for a role of an allowed account", webIdentity(role("111111111111")), places),
  refuses(
    "a ProviderConfig with a token for a role of another account",
    "ProviderConfig trial may be for the accounts 111111111111",
    webIdentity(role("999999999999")),
    places,
  ),
  allows("a Spoke in one of several regions", spoke("us-east-1", "111111111111"), places),
  allows("a Spoke in the first of them", spoke("eu-west-1", "111111111111"), places),
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

const tenantSources: readonly Row[] = [
  allows("charts below an address that ends with a slash", charts("https://charts.example.com/payments/x"), folders),
  refuses(
    "charts beside such an address",
    "HelmRepositorys of a tenant are below https://charts.example.com/payments/ (",
    charts("https://charts.example.com/payments-of-others/x"),
    folders,
  ),
  allows("an allowed bucket", bucket(), buckets),
  refuses(
    "an allowed bucket with the credentials of another endpoint",
    "remove spec.sts: a Bucket of a tenant gets no credentials from an endpoint that it names; got Bucket it",
    bucket({ provider: "aws", endpoint: "https://sts.example.com" }),
    buckets,
  ),
  allows(
    "a repository beside the workloads",
    { ...source("https://git.example.com/org/app.git"), metadata: { name: "it", namespace: "payment-app" } },
    folders,
  ),
  refuses(
    "a repository of an organisation that is called alike",
    "GitRepositorys of a tenant are below https://git.example.com/org/",
    { ...source("https://git.example.com/org-of-others/app.git"), metadata: { name: "it", namespace: "payment-app" } },
    folders,
  ),
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

const lists: readonly Row[] = [
  refuses(
    "a list without a namespace to which an Application goes",
    stays,
    listed("search"),
    goesTo("shop"),
    listed("search,shop"),
  ),
  refuses("no list any more", stays, listed(), goesTo("shop"), listed("shop")),
  allows("a list without a namespace to which none goes", listed("shop"), goesTo("shop"), listed("search,shop")),
  allows("a longer list", listed("search,shop"), goesTo("shop"), listed("shop")),
  allows("a new list", listed("search"), goesTo("shop")),
  allows("a first list", listed("search"), goesTo(), listed()),
  allows(
    "a list beside an Application of a namespace that it never had",
    listed("search"),
    goesTo("shops"),
    listed("search,shop"),
  ),
];

export const otherCases: readonly OtherCase[] = [
  ...lists.map((each) => ({ ...each, policy: "argocd-namespaces.fleet.internal" })),
  ...credentials.map((each) => ({ ...each, policy: "git-credential.fleet.internal" })),
  ...sources.map((each) => ({ ...each, policy: "git-source.fleet.internal" })),
  ...placements.map((each) => ({ ...each, policy: "spoke-placement.fleet.internal" })),
  ...tenantSources.map((each) => ({ ...each, policy: "tenant-source.fleet.internal" })),
];
