import { argocdClusterSecret } from "../../../lib/argocd.ts";
import { inBase64 } from "../../../lib/base64.ts";
import { bridgeData, bridgeLabels, clusterSecretName } from "../../../lib/bridge.ts";
import { hub } from "../../functions/spoke/support/fixtures.ts";
import { type Cases, type Requested, removals, tenantNamespace } from "./admission-request.ts";

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
    metadata: { name, namespace, ...(options.labels && { labels: options.labels }) },
    type: options.type ?? "Opaque",
    ...(Object.keys(values).length > 0 && { data: inBase64(values as Record<string, string>) }),
  };
}

const labels = bridgeLabels(hub);
const bridge = (more: Record<string, string> = {}) => ({ ...bridgeData(hub), ...more });
const hubSecret = `flux-system/${clusterSecretName("hub")}`;
const argocd = argocdClusterSecret(hub, { kind: "in-cluster" });
const spokeForArgocd = argocdClusterSecret(hub, {
  kind: "role",
  roleArn: "arn:aws:iam::000000000000:role/fleet-hub-argocd-spokes",
  endpoint: "https://198.51.100.1",
  certificateAuthority: "Q0E=",
  namespaces: ["payment-app"],
});

/** What policies/cluster-secret.yaml judges. */
export const clusterSecrets: Cases = [
  { title: "the hub's, as the program writes it", object: secret(hubSecret, bridge(), { labels }) },
  { title: "one for Argo CD", object: secret("default/cluster-hub", argocd.data, { labels: argocd.labels }) },
  {
    title: "a spoke's for Argo CD, with the namespaces in which it has rights",
    object: secret("default/cluster-blue", spokeForArgocd.data, { labels: spokeForArgocd.labels }),
  },
  {
    title: "a spoke's",
    object: secret("spokes/cluster-blue", bridge(), { labels: { ...labels, "fleet.internal/role": "spoke" } }),
  },
  { title: "one in which nothing is yet", object: secret(hubSecret, [], { labels }) },
  { title: "a Secret about something else", object: secret("default/database", ["password"]) },
  {
    title: "a Secret about something else with a label of its own",
    object: secret("default/database", ["password"], { labels: { app: "database" } }),
  },
  { title: "a Secret about something else beside the hub's", object: secret("flux-system/database", ["password"]) },
  { title: "a Secret that a team calls like one", object: secret("default/cluster-notes", ["password"]) },
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
    title: "one without labels beside the hub's",
    object: secret("flux-system/cluster-green", ["password"]),
    refused: "never a credential: got the keys password",
  },
  ...["fleet.internal/cluster", "fleet.internal/role"].map((key) => ({
    title: `one with no other label than ${key}`,
    object: secret(hubSecret, bridge(), { labels: { [key]: "hub" } }),
    refused: "it needs the labels fleet.internal/cluster (its name) and fleet.internal/role (hub or spoke)",
  })),
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
  {
    title: "a cluster-info with a fact of the team's own",
    object: { ...info("flux-system"), data: bridge({ greeting: "hello" }) },
  },
  {
    title: "a cluster-info with a token under an innocent name",
    object: { ...info("flux-system"), data: bridge({ greeting: "k8s-aws-v1.aHR0cHM6Ly9zdHM" }) },
    refused: "got the keys greeting",
  },
  {
    title: "another ConfigMap beside cluster-info",
    object: { ...info("flux-system", "cluster-notes"), data: { kubeconfig: "value" } },
  },
  { title: "a cluster-info of somebody else", object: { ...info("default"), data: { kubeconfig: "value" } } },
  ...removals(
    secret(hubSecret, bridge(), { labels }),
    secret(hubSecret, bridge({ token: "value" }), { labels }),
    "got the keys token",
  ),
  ...removals(
    secret("default/database", ["password"]),
    secret("default/database", ["password"], { labels }),
    "got the keys password",
  ),
];

function info(namespace: string, name = "cluster-info"): Requested {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } };
}

const deployKey = ["identity", "identity.pub", "known_hosts"];
const app = ["githubAppID", "githubAppInstallationID", "githubAppPrivateKey"];
const oneForm = "a Git credential here has the keys identity, identity.pub, known_hosts";

/** What policies/git-credential.yaml judges. */
export const gitCredentials: Cases = [
  { title: "a deploy key", object: secret("flux-system/gitops-system", deployKey) },
  { title: "a deploy key of an application", object: secret(`${tenantNamespace}/payment-app-git`, deployKey) },
  { title: "a password that is not for Git", object: secret("default/database", ["username", "password"]) },
  { title: "a password that is not for Git, beside Flux", object: secret("flux-system/database", ["password"]) },
  { title: "a Secret of the name in a namespace that is not Flux's", object: secret("default/gitops-system", ["a"]) },
  { title: "a Secret in which nothing is yet", object: secret("default/database", []) },
  ...["identity", "known_hosts"].map((key) => ({
    title: `a Secret with a password and a key ${key}`,
    object: secret("default/ssh", [key, "password"]),
  })),
  {
    title: "a token, where Git is read over SSH",
    object: secret("flux-system/gitops-system", ["password"]),
    refused: `${oneForm} (platform/policies/parameters.yaml, git_hosts); got password`,
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
  ...removals(
    secret(`${tenantNamespace}/payment-app-git`, deployKey),
    secret(`${tenantNamespace}/payment-app-git`, [...deployKey, "password"]),
    oneForm,
  ),
];
