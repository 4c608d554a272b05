import { argocdClusterSecret } from "../../../lib/argocd.ts";
import { inBase64 } from "../../../lib/base64.ts";
import { bridgeData, bridgeLabels, clusterSecretName } from "../../../lib/bridge.ts";
import { hub } from "../../functions/spoke/support/fixtures.ts";
import { allows, type Cases, type Requested, refuses, removals, tenantNamespace } from "./admission-request.ts";

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
  allows("the hub's, as the program writes it")(secret(hubSecret, bridge(), { labels })),
  allows("one for Argo CD")(secret("default/cluster-hub", argocd.data, { labels: argocd.labels })),
  allows("a spoke's for Argo CD, with the namespaces in which it has rights")(
    secret("default/cluster-blue", spokeForArgocd.data, { labels: spokeForArgocd.labels }),
  ),
  allows("a spoke's")(
    secret("spokes/cluster-blue", bridge(), { labels: { ...labels, "fleet.internal/role": "spoke" } }),
  ),
  allows("one in which nothing is yet")(secret(hubSecret, [], { labels })),
  allows("a Secret about something else")(secret("default/database", ["password"])),
  allows("a Secret about something else with a label of its own")(
    secret("default/database", ["password"], { labels: { app: "database" } }),
  ),
  allows("a Secret about something else beside the hub's")(secret("flux-system/database", ["password"])),
  allows("a Secret that a team calls like one")(secret("default/cluster-notes", ["password"])),
  ...["token", "bearerToken", "kubeconfig", "aws_secret_access_key", "tls.key", "aws_access_key"].map((key) =>
    refuses(
      `one with the key ${key}`,
      `a cluster secret holds facts about a cluster, never a credential: got the keys ${key}; give the consumer`,
    )(secret(hubSecret, bridge({ [key]: "value" }), { labels })),
  ),
  refuses(
    "one without labels, by the name under which Flux would read it",
    "never a credential: got the keys password",
  )(secret("spokes/cluster-blue", ["password"])),
  refuses(
    "one without labels beside the hub's",
    "never a credential: got the keys password",
  )(secret("flux-system/cluster-green", ["password"])),
  ...["fleet.internal/cluster", "fleet.internal/role"].map((key) =>
    refuses(
      `one with no other label than ${key}`,
      "it needs the labels fleet.internal/cluster (its name) and fleet.internal/role (hub or spoke)",
    )(secret(hubSecret, bridge(), { labels: { [key]: "hub" } })),
  ),
  refuses(
    "one without labels and without a foreign key",
    "it needs the labels fleet.internal/cluster (its name) and fleet.internal/role (hub or spoke)",
  )(secret("spokes/cluster-blue", ["aws_region"])),
  refuses(
    "one with a role that there is not",
    "it needs the labels fleet.internal/cluster",
  )(secret(hubSecret, bridge(), { labels: { ...labels, "fleet.internal/role": "admin" } })),
  refuses(
    "one of a type that holds keys",
    "a cluster secret is of type Opaque, got example.com/key",
  )(secret(hubSecret, bridge(), { labels, type: "example.com/key" })),
  refuses(
    "one for Argo CD with a key that Argo CD does not have",
    "got the keys token",
  )(secret("default/cluster-hub", { ...argocd.data, token: "value" }, { labels: argocd.labels })),
  allows("a spoke's cluster-info")({ ...info("flux-system"), data: bridge() }),
  refuses(
    "a spoke's cluster-info with a token",
    "got the keys token",
  )({ ...info("flux-system"), data: bridge({ token: "value" }) }),
  allows("a cluster-info with a fact of the team's own")({
    ...info("flux-system"),
    data: bridge({ greeting: "hello" }),
  }),
  refuses(
    "a cluster-info with a token under an innocent name",
    "got the keys greeting",
  )({ ...info("flux-system"), data: bridge({ greeting: "k8s-aws-v1.aHR0cHM6Ly9zdHM" }) }),
  allows("another ConfigMap beside cluster-info")({
    ...info("flux-system", "cluster-notes"),
    data: { kubeconfig: "value" },
  }),
  allows("a cluster-info of somebody else")({ ...info("default"), data: { kubeconfig: "value" } }),
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
  allows("a deploy key")(secret("flux-system/gitops-system", deployKey)),
  allows("a deploy key of an application")(secret(`${tenantNamespace}/payment-app-git`, deployKey)),
  allows("a password that is not for Git")(secret("default/database", ["username", "password"])),
  allows("a password that is not for Git, beside Flux")(secret("flux-system/database", ["password"])),
  allows("a Secret of the name in a namespace that is not Flux's")(secret("default/gitops-system", ["a"])),
  allows("a Secret in which nothing is yet")(secret("default/database", [])),
  ...["identity", "known_hosts"].map((key) =>
    allows(`a Secret with a password and a key ${key}`)(secret("default/ssh", [key, "password"])),
  ),
  refuses(
    "a token, where Git is read over SSH",
    `${oneForm} (platform/policies/parameters.yaml, git_hosts); got password`,
  )(secret("flux-system/gitops-system", ["password"])),
  refuses("a GitHub App under any name", oneForm)(secret(`${tenantNamespace}/innocent`, app)),
  refuses(
    "a deploy key with something else",
    oneForm,
  )(secret(`${tenantNamespace}/innocent`, [...deployKey, "password"])),
  refuses("an empty one", "got none")(secret("flux-system/gitops-workloads", [])),
  refuses(
    "a deploy key without the host's",
    "a deploy key needs known_hosts",
  )(secret(`${tenantNamespace}/payment-app-git`, ["identity"])),
  refuses(
    "one of another type",
    "a Git credential is of type Opaque, got example.com/key",
  )(secret("flux-system/gitops-system", deployKey, { type: "example.com/key" })),
  ...removals(
    secret(`${tenantNamespace}/payment-app-git`, deployKey),
    secret(`${tenantNamespace}/payment-app-git`, [...deployKey, "password"]),
    oneForm,
  ),
];
