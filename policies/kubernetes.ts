/** Objects that the program makes in a cluster. */
import { charts } from "../components/versions.ts";
import { clusterSecretName } from "../lib/bridge.ts";
import { labelKeys } from "../lib/labels.ts";
import { credentialIn, namesCredential } from "./lib/credentials.ts";
import { each, resourceRule, strings } from "./lib/rule.ts";
import { isSet, parseJson, record, text, words } from "./lib/values.ts";

const release = ["kubernetes:helm.sh/v3:Release"];
const argocdType = "argocd.argoproj.io/secret-type";

/** Whether a Secret describes a cluster: to Flux (the GitOps bridge) or to Argo CD. */
function describesCluster(metadata: Readonly<Record<string, unknown>>): boolean {
  const labels = record(metadata["labels"]);
  if (isSet(labels, labelKeys.role) || labels[argocdType] === "cluster") return true;
  return text(metadata["name"]).startsWith(clusterSecretName(""));
}

/** The members of a Secret, each as a function that decodes it. */
function members(props: Readonly<Record<string, unknown>>): { key: string; read: () => string }[] {
  const data = record(props["data"]);
  const plain = record(props["stringData"]);
  return [
    ...Object.keys(data).map((key) => ({ key, read: () => Buffer.from(text(data[key]), "base64").toString("utf8") })),
    ...Object.keys(plain).map((key) => ({ key, read: () => text(plain[key]) })),
  ];
}

const clusterSecret = resourceRule({
  id: "kubernetes-cluster-secret",
  description: "A cluster secret names IAM roles, and contains no token, key or kubeconfig.",
  remediation:
    "Give the reader an IAM role with an access entry, and write the role's ARN: lib/bridge.ts has no member for a credential.",
  types: ["kubernetes:core/v1:Secret"],
  *check({ props }) {
    const metadata = record(props["metadata"]);
    if (!describesCluster(metadata)) return;
    const found = members(props);
    yield* each(found, function* ({ key, read }) {
      if (namesCredential(key))
        yield `member ${key} of the cluster secret names a credential: write the ARN of an IAM role instead`;
      const credential = credentialIn(read());
      if (credential)
        yield `member ${key} of the cluster secret contains ${credential}: write the ARN of an IAM role instead`;
    });
    const values = Object.fromEntries(found.map(({ key, read }) => [key, read()]));
    if (!carriesRole(values))
      yield "the cluster secret names no IAM role: add <addon>_iam_role_arn, or awsAuthConfig.roleARN for Argo CD";
  },
});

const roleArn = /^arn:[^:]+:iam::\d{12}:role\/.+$/;

/** Whether decoded members name a role; an Argo CD in the same cluster needs none. */
function carriesRole(values: Readonly<Record<string, string>>): boolean {
  const config = record(parseJson(values["config"] ?? ""));
  const argocdRole = text(record(config["awsAuthConfig"])["roleARN"]);
  const bridgeRoles = Object.keys(values).filter((key) => key.endsWith("_iam_role_arn"));
  return (
    values["server"] === "https://kubernetes.default.svc" ||
    roleArn.test(argocdRole) ||
    bridgeRoles.some((key) => roleArn.test(values[key] ?? ""))
  );
}

const helmPinned = resourceRule({
  id: "kubernetes-helm-pinned",
  description: "Helm releases name one exact version of their chart.",
  remediation: "Set version to an exact one; components/versions.ts keeps those of the program.",
  types: release,
  *check({ props }) {
    const version = text(props["version"]);
    if (!/^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(version))
      yield `chart version ${version || "(none)"} is not exact: set version to major.minor.patch`;
  },
});

/** Where a chart comes from: the repository, or the registry of an OCI chart; the chart itself when it is a path or a URL. */
function chartSource(props: Readonly<Record<string, unknown>>): string {
  const chart = text(props["chart"]);
  if (chart.startsWith("oci://")) return chart.slice(0, chart.lastIndexOf("/"));
  return /^(\.|\/|[a-z]+:\/\/)/.test(chart) ? chart : text(record(props["repositoryOpts"])["repo"]) || chart;
}

const helmRegistries = resourceRule({
  id: "kubernetes-helm-registries",
  description: "Charts come from the allowed repositories and registries.",
  remediation: "Use an allowed one, or allow the mirror in the configuration of this policy.",
  parameters: {
    registries: strings(
      "Helm repositories (https://…) and OCI registries (oci://…); what is below one is allowed too.",
      Object.values(charts).map(({ repository }) => repository),
    ),
  },
  types: release,
  *check({ props }, { registries }) {
    const source = chartSource(props);
    const allowed = registries.some((registry) => `${source}/`.startsWith(registry.replace(/\/*$/, "/")));
    if (!allowed) yield `the chart comes from ${source || "nowhere"}: allowed are ${words(registries)}`;
  },
});

const helmAtomic = resourceRule({
  id: "kubernetes-helm-atomic",
  description: "A Helm release that fails is rolled back.",
  remediation: "Set atomic.",
  types: release,
  *check({ props }) {
    if (props["atomic"] !== true) yield "a failed upgrade would not be rolled back: set atomic to true";
  },
});

const enforceLabel = "pod-security.kubernetes.io/enforce";

const podSecurity = resourceRule({
  id: "kubernetes-namespace-pod-security",
  description: "Every namespace enforces a Pod Security Standard.",
  remediation: "Add the labels of podSecurityLabels in lib/labels.ts.",
  parameters: { levels: strings("Levels that a namespace may enforce.", ["baseline", "restricted"]) },
  types: ["kubernetes:core/v1:Namespace"],
  *check({ props }, { levels }) {
    const level = text(record(record(props["metadata"])["labels"])[enforceLabel]);
    if (!levels.includes(level))
      yield `label ${enforceLabel} is ${level || "not set"}: set it to ${levels.join(" or ")}`;
  },
});

export const kubernetesPolicies = [clusterSecret, helmPinned, helmRegistries, helmAtomic, podSecurity];
