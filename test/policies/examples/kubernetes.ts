import { inBase64 } from "../../../lib/base64.ts";
import { podSecurityLabels } from "../../../lib/labels.ts";
import type { Properties, Resource } from "../support/evaluate.ts";
import { type Example, examplesOf } from "../support/example.ts";

const bridge = (members: Record<string, string>, labels: Properties = { "fleet.internal/role": "hub" }): Resource => ({
  type: "kubernetes:core/v1:Secret",
  props: { metadata: { name: "hub", labels }, data: inBase64(members) },
});
const argocd = (members: Record<string, string>) => bridge(members, { "argocd.argoproj.io/secret-type": "cluster" });
const release = (props: Properties): Resource => ({ type: "kubernetes:helm.sh/v3:Release", props });
const namespace = (labels?: Properties): Resource => ({
  type: "kubernetes:core/v1:Namespace",
  props: { metadata: { name: "shop", ...(labels ? { labels } : {}) } },
});

const secret = examplesOf("kubernetes-cluster-secret");
const pinned = examplesOf("kubernetes-helm-pinned");
const registries = examplesOf("kubernetes-helm-registries");
const atomic = examplesOf("kubernetes-helm-atomic");
const security = examplesOf("kubernetes-namespace-pod-security");

const roleArn = "arn:aws:iam::111111111111:role/fleet-hub-crossplane";
const identity = {
  crossplane_iam_role_arn: roleArn,
  secrets_kms_key_arn: "arn:aws:kms:eu-central-1:111111111111:key/k",
};
const instead = "write the ARN of an IAM role instead";
const noRole = "the cluster secret names no IAM role: add <addon>_iam_role_arn, or awsAuthConfig.roleARN for Argo CD";
const external = { server: "https://example.com" };
const upstream = "https://charts.crossplane.io/stable";
const allowed = `allowed are https://fluxcd-community.github.io/helm-charts, ${upstream} and https://charts.external-secrets.io`;
const enforce = "label pod-security.kubernetes.io/enforce is";

export const kubernetesExamples: readonly Example[] = [
  secret("the bridge with roles passes", bridge(identity)),
  secret(
    "an Argo CD cluster with a role passes",
    argocd({ ...external, config: JSON.stringify({ awsAuthConfig: { roleARN: roleArn } }) }),
  ),
  secret(
    "an Argo CD in the same cluster needs none",
    argocd({ server: "https://kubernetes.default.svc", config: "{}" }),
  ),
  secret("other Secrets may hold what they like", {
    type: "kubernetes:core/v1:Secret",
    props: { metadata: { name: "git" }, stringData: { password: "p" } },
  }),
  secret("a token is stopped by its name", bridge({ ...identity, bearerToken: "t" }), [
    `member bearerToken of the cluster secret names a credential: ${instead}`,
  ]),
  secret(
    "a kubeconfig is stopped by its name and by what it holds",
    bridge({ ...identity, kubeconfig: '{"users":[{"user":{"token":"t"}}]}' }),
    [
      `member kubeconfig of the cluster secret names a credential: ${instead}`,
      `member kubeconfig of the cluster secret contains a kubeconfig or cluster configuration with a credential: ${instead}`,
    ],
  ),
  secret("a key is stopped under any name", bridge({ ...identity, note: `-----BEGIN ${"RSA"} PRIVATE KEY-----` }), [
    `member note of the cluster secret contains a private key: ${instead}`,
  ]),
  secret(
    "plain text is read as well",
    {
      type: "kubernetes:core/v1:Secret",
      props: { metadata: { name: "cluster-dev" }, stringData: { ...identity, "tls.key": "k" } },
    },
    [`member tls.key of the cluster secret names a credential: ${instead}`],
  ),
  secret(
    "a bearer token in the configuration of Argo CD is stopped",
    argocd({
      ...external,
      config: JSON.stringify({ awsAuthConfig: { roleARN: roleArn }, bearerToken: "t", tlsClientConfig: {} }),
    }),
    [
      `member config of the cluster secret contains a kubeconfig or cluster configuration with a credential: ${instead}`,
    ],
  ),
  secret("a bridge without a role is stopped", bridge({ cluster_name: "hub" }), [noRole]),
  secret("what is not an ARN of a role is none", bridge({ crossplane_iam_role_arn: "crossplane" }), [noRole]),
  secret("an Argo CD cluster without a role is stopped", argocd({ ...external, config: "no JSON" }), [noRole]),

  pinned("an exact version passes", [release({ version: "2.19.0" }), release({ version: "v1.0.0-rc.1+build" })]),
  pinned("the newest version is stopped", release({}), [
    "chart version (none) is not exact: set version to major.minor.patch",
  ]),
  pinned("a range is stopped", release({ version: "^2.19.0" }), [
    "chart version ^2.19.0 is not exact: set version to major.minor.patch",
  ]),
  pinned("a wildcard is stopped", release({ version: "2.19.x" }), [
    "chart version 2.19.x is not exact: set version to major.minor.patch",
  ]),

  registries(
    "the program's repositories pass",
    release({ chart: "crossplane", repositoryOpts: { repo: `${upstream}/` } }),
  ),
  registries(
    "another repository is stopped",
    release({ chart: "crossplane", repositoryOpts: { repo: `${upstream}-copy` } }),
    [`the chart comes from ${upstream}-copy: ${allowed}`],
  ),
  registries("an OCI registry is stopped", release({ chart: "oci://registry.example.com/charts/crossplane" }), [
    `the chart comes from oci://registry.example.com/charts: ${allowed}`,
  ]),
  registries("a mirror can be allowed", release({ chart: "oci://registry.example.com/charts/crossplane" }), [], {
    registries: ["oci://registry.example.com"],
  }),
  registries(
    "a chart by its URL is stopped",
    release({ chart: "https://example.com/crossplane.tgz", repositoryOpts: { repo: upstream } }),
    [`the chart comes from https://example.com/crossplane.tgz: ${allowed}`],
  ),
  registries("a folder is stopped", release({ chart: "./crossplane" }), [
    `the chart comes from ./crossplane: ${allowed}`,
  ]),
  registries("a release without a chart is stopped", release({}), [`the chart comes from nowhere: ${allowed}`]),

  atomic("an atomic release passes", release({ atomic: true })),
  atomic("a release that stays half done is stopped", release({ atomic: false }), [
    "a failed upgrade would not be rolled back: set atomic to true",
  ]),

  security("what the program writes passes", [
    namespace(podSecurityLabels("baseline")),
    namespace(podSecurityLabels("restricted")),
  ]),
  security("a namespace without labels is stopped", namespace(), [
    `${enforce} not set: set it to baseline or restricted`,
  ]),
  security("privileged is stopped", namespace({ "pod-security.kubernetes.io/enforce": "privileged" }), [
    `${enforce} privileged: set it to baseline or restricted`,
  ]),
  security(
    "the levels are a parameter",
    namespace(podSecurityLabels("baseline")),
    [`${enforce} baseline: set it to restricted`],
    { levels: ["restricted"] },
  ),
];
