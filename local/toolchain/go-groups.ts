import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { compare } from "../product.ts";
import { type GoMod, parseGoMod, programName, versionOf } from "./go-mod.ts";
import { type Patch, readPatches } from "./patches.ts";

/** Of npm's @pulumi/kubernetes. */
export const { version: kubernetesSdkVersion } = createRequire(import.meta.url)("@pulumi/kubernetes/package.json") as {
  version: string;
};
const here = join(import.meta.dirname, "go");

/** Programs that are built from one go.mod, in one `go build`: shared packages are compiled once. */
export interface GoGroup {
  readonly name: string;
  readonly dir: string;
  /** An add-on's: built beside the toolchain, maybe at the same time. */
  readonly isAddon: boolean;
  readonly mod: GoMod;
  readonly ldflags: readonly string[];
  /** What of its modules is not compiled. */
  readonly patches: readonly Patch[];
  /** Names of its programs: the go.mod's tools and the folders in cmd/. */
  readonly programs: readonly string[];
}

type Variables = (version: (path: string) => string) => Record<string, string>;

function goGroup(name: string, variables: Variables, isAddon = false): GoGroup {
  const dir = join(here, name);
  const mod = parseGoMod(readFileSync(join(dir, "go.mod"), "utf8"));
  const own = existsSync(join(dir, "cmd")) ? readdirSync(join(dir, "cmd")) : [];
  const set = Object.entries(variables((path) => versionOf(mod, path))).map(([key, value]) => `-X ${key}=${value}`);
  const programs = [...mod.tools.map(programName), ...own].sort();
  return { name, dir, isAddon, mod, ldflags: ["-s", "-w", ...set], patches: readPatches(dir, mod), programs };
}

/** Nearly everything. The variables are what upstream's own builds set: without them programs call themselves "dev". */
export const mainGroup = goGroup("main", (version) => {
  const kubernetes = version("k8s.io/kubernetes");
  const [major = "", minor = ""] = kubernetes.slice(1).split(".");
  return {
    "github.com/crossplane/crossplane-runtime/v2/pkg/version.version": version("github.com/crossplane/crossplane/v2"),
    "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": version("github.com/pulumi/pulumi/pkg/v3"),
    "helm.sh/helm/v4/internal/version.version": version("helm.sh/helm/v4"),
    "k8s.io/component-base/version.gitVersion": kubernetes,
    "k8s.io/component-base/version.gitMajor": major,
    "k8s.io/component-base/version.gitMinor": minor,
    "k8s.io/component-base/version.gitTreeState": "clean",
    // Only the Sealed Secrets programs have a variable of this name in main.
    "main.VERSION": version("github.com/bitnami/sealed-secrets"),
  };
});

// Groups of their own, so that a change of one rebuilds nothing else. Their go.mod names the versions of main wherever both need
// a module: after main they cost seconds.
export const externalSecretsGroup = goGroup("external-secrets", () => ({}));
/** The demo's app, and no part of the platform. */
export const podinfoGroup = goGroup("podinfo", () => ({}));
/** What enforces NetworkPolicies on a node. */
const networkPolicyGroup = goGroup("network-policy", () => ({}));
/** Pulumi's provider. It calls itself as npm's SDK does: the engine looks for the plugin of that version. */
export const pulumiKubernetesGroup = goGroup("pulumi-kubernetes", () => ({
  // Makefile
  "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version": kubernetesSdkVersion,
}));

export const goGroups: readonly GoGroup[] = [
  mainGroup,
  externalSecretsGroup,
  podinfoGroup,
  networkPolicyGroup,
  pulumiKubernetesGroup,
];

const addonGroup = (name: string, variables: Variables): GoGroup => goGroup(name, variables, true);

/**
 * The release of a version of Prometheus's Go module: v3.8.1 of v0.308.1 (its scripts/get_module_version.sh).
 * @throws when the version isn't of that form
 */
export function prometheusRelease(moduleVersion: string): string {
  const [, major, minor, patch] = /^v0\.([0-9])([0-9]{2})\.([0-9]+)$/.exec(moduleVersion) ?? [];
  if (major === undefined)
    throw new Error(`no release of Prometheus has the module version ${moduleVersion}: it is such as v0.308.1`);
  return `v${major}.${Number(minor)}.${patch}`;
}

// Parts that are off by default (addons.ts), built when they are first asked for. They name one another's versions, not main's: whoever
// asks later has nothing of main's build any more.
export const externalDnsGroup = addonGroup("external-dns", (version) => ({
  "sigs.k8s.io/external-dns/pkg/apis/externaldns.Version": version("sigs.k8s.io/external-dns"),
}));
export const certManagerGroup = addonGroup("cert-manager", (version) => ({
  "github.com/cert-manager/cert-manager/pkg/util.AppVersion": version("github.com/cert-manager/cert-manager"),
}));
export const metricsServerGroup = addonGroup("metrics-server", (version) => ({
  "k8s.io/client-go/pkg/version.gitVersion": version("sigs.k8s.io/metrics-server"),
}));

// Alone: it asks for newer modules than the others name.
export const kyvernoGroup = addonGroup("kyverno", (version) => ({
  // Makefile
  "github.com/kyverno/kyverno/pkg/version.BuildVersion": version("github.com/kyverno/kyverno"),
}));

// Alone: Flux's modules ask for newer ones than the others name.
export const imageAutomationGroup = addonGroup("image-automation", () => ({}));

// Three groups, as each program has its own version in the same variable. Prometheus and node_exporter name one another's versions;
// kube-state-metrics 2.18.0 doesn't compile with Prometheus's Kubernetes 0.37 (cache.Store has Bookmark).
const PROMETHEUS_VERSION = "github.com/prometheus/common/version.Version";
// .promu.yml
export const prometheusGroup = addonGroup("prometheus", (version) => ({
  [PROMETHEUS_VERSION]: prometheusRelease(version("github.com/prometheus/prometheus")).slice(1),
}));
// .promu.yml
export const nodeExporterGroup = addonGroup("node-exporter", (version) => ({
  [PROMETHEUS_VERSION]: version("github.com/prometheus/node_exporter").slice(1),
}));
// Makefile
export const kubeStateMetricsGroup = addonGroup("kube-state-metrics", (version) => ({
  [PROMETHEUS_VERSION]: version("k8s.io/kube-state-metrics/v2"),
  "k8s.io/kube-state-metrics/v2/pkg/app.ClientGoVersion": version("k8s.io/client-go"),
}));

// Alone: Cluster API's own versions, with which its AWS provider is built too.
export const clusterApiGroup = addonGroup("cluster-api", (version) => ({
  // hack/version.sh of both
  "sigs.k8s.io/cluster-api/version.gitVersion": version("sigs.k8s.io/cluster-api"),
  "sigs.k8s.io/cluster-api-provider-aws/v2/version.gitVersion": version("sigs.k8s.io/cluster-api-provider-aws/v2"),
}));

// Alone, with the Kubernetes versions of its own go.mod. No add-on of a cluster: its programs run on this machine, for who asks for them.
export const argocdGroup = addonGroup("argocd", (version) => ({
  // Makefile
  "github.com/argoproj/argo-cd/v3/common.version": version("github.com/argoproj/argo-cd/v3").slice(1),
}));

// Alone: its own versions.
export const loadBalancerControllerGroup = addonGroup("aws-load-balancer-controller", (version) => ({
  // Dockerfile
  "sigs.k8s.io/aws-load-balancer-controller/pkg/version.GitVersion": version(
    "sigs.k8s.io/aws-load-balancer-controller",
  ),
}));

// Alone, with the Kubernetes versions of its own go.mod.
export const karpenterGroup = addonGroup("karpenter", (version) => ({
  // Makefile
  "sigs.k8s.io/karpenter/pkg/operator.Version": version("github.com/aws/karpenter-provider-aws").slice(1),
}));

// Alone: its own versions, with which its plugin for AWS is built too.
export const veleroGroup = addonGroup("velero", (version) => ({
  // hack/build.sh
  "github.com/vmware-tanzu/velero/pkg/buildinfo.Version": version("github.com/vmware-tanzu/velero"),
}));

export const addonGroups: readonly GoGroup[] = [
  externalDnsGroup,
  certManagerGroup,
  metricsServerGroup,
  kyvernoGroup,
  imageAutomationGroup,
  prometheusGroup,
  nodeExporterGroup,
  kubeStateMetricsGroup,
  clusterApiGroup,
  argocdGroup,
  loadBalancerControllerGroup,
  karpenterGroup,
  veleroGroup,
];

/** The least Go release that builds all of these: the newest of their go directives. */
export const goNeeded = (groups: readonly GoGroup[] = goGroups): string =>
  groups.map((group) => group.mod.go).reduce((a, b) => (compare(a, b) < 0 ? b : a));
