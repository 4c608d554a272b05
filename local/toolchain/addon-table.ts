import type { Service } from "../ack/definitions.ts";
import { charts } from "../product.ts";
import {
  certManagerGroup,
  clusterApiGroup,
  externalDnsGroup,
  type GoGroup,
  imageAutomationGroup,
  karpenterGroup,
  kubeStateMetricsGroup,
  kyvernoGroup,
  loadBalancerControllerGroup,
  metricsServerGroup,
  nodeExporterGroup,
  prometheusGroup,
  prometheusRelease,
  veleroGroup,
} from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";
import type { Recipe } from "./images.ts";

/** An add-on of clusters that is off by default. What it takes is built when somebody first asks for it, and never by `npm start` alone. */
export type Addon = GoAddon | StandInAddon;

/** One whose programs are built from Go modules. */
interface GoAddon {
  readonly group: GoGroup;
  /** Programs of the group that the gateway runs on this machine. */
  readonly onMachine?: readonly string[];
  /** The module with its program's version and its chart. */
  readonly module: string;
  /** The program's version, where the module's is another. */
  readonly release?: (moduleVersion: string) => string;
  /** None where no module has one: Git has plain manifests then. */
  readonly chart?: ModuleChart | ToolchainChart | OwnChart;
  /** By repository, as the chart's values name them. */
  readonly images: Readonly<Record<string, AddonImage>>;
}

/** A controller of ACK, whose module, chart and image can't be had: a program of ours in their place, under their names (stand-ins.ts). */
export interface StandInAddon {
  readonly standIn: Service;
  /** As upstream calls it, in the version that Git pins. */
  readonly chart: ToolchainChart;
  /** The image's repository; its tag is the chart's version, as upstream's charts have it. */
  readonly image: string;
}

interface ModuleChart {
  readonly name: string;
  /** What Git pins, and the mirror has it under, whatever version of the program is in it (differences.ts). */
  readonly version: string;
  /** Whether the module has the chart as it was released under that version. */
  readonly isReleased?: boolean;
  /** The folder in the module. */
  readonly folder: string;
  /** The chart's appVersion, of which its templates make the tag of the images. */
  readonly appVersion: (version: string) => string;
  readonly definitions?: undefined;
}

/** A chart that the toolchain's own mirror has (charts.ts). */
interface ToolchainChart {
  readonly name: string;
  readonly version: string;
  readonly folder?: undefined;
  readonly definitions?: undefined;
}

/** A chart of ours in the place of upstream's, which no module has, under its name and version: addon-charts/<name>, with definitions of the module. */
interface OwnChart {
  readonly name: string;
  readonly version: string;
  readonly folder?: undefined;
  /** Folders of the module with the CustomResourceDefinitions that upstream's chart has. */
  readonly definitions: readonly string[];
}

interface AddonImage extends Omit<Recipe, "group"> {
  /** Where the add-on has several programs with versions of their own: the group that builds this one, and the image's tag. */
  readonly other?: { readonly group: GoGroup; readonly tag: string };
}

/** An image whose tag is the version of a module in the group that builds its program. */
const other = (group: GoGroup, module: string) => ({ group, tag: versionOf(group.mod, module) });

const withoutV = (version: string): string => version.replace(/^v/, "");

const standIn = (service: Service, version: string) =>
  ({
    standIn: service,
    chart: { name: `${service}-chart`, version },
    image: `public.ecr.aws/aws-controllers-k8s/${service}-controller`,
  }) as const;

/** By the names of their folders in repos/gitops-system/tools/base/addons; cluster_api is the hub's (platform/hub/cluster-api). */
export const addons = {
  external_dns: {
    group: externalDnsGroup,
    module: "sigs.k8s.io/external-dns",
    // That of the module is 1.19.0 (its CHANGELOG.md: "Update ExternalDNS OCI image version to v0.19.0").
    chart: { name: "external-dns", version: "1.21.1", folder: "charts/external-dns", appVersion: withoutV },
    images: {
      // .ko.yaml: ko puts the program below /ko-app, on an image whose user is root; the chart runs it as another.
      "registry.k8s.io/external-dns/external-dns": {
        program: "external-dns",
        path: "/ko-app/external-dns",
        user: "0",
      },
    },
  },
  cert_manager: {
    group: certManagerGroup,
    module: "github.com/cert-manager/cert-manager",
    // The chart has the program's version, with the v (make/manifests.mk).
    chart: {
      name: "cert-manager",
      version: "v1.21.2",
      isReleased: true,
      folder: "deploy/charts/cert-manager",
      appVersion: (version) => version,
    },
    // hack/containers/Containerfile.*
    images: Object.fromEntries(
      ["controller", "webhook", "cainjector"].map((program) => [
        `quay.io/jetstack/cert-manager-${program}`,
        { program, path: `/app/cmd/${program}/${program}`, user: "1000" },
      ]),
    ),
  },
  metrics_server: {
    group: metricsServerGroup,
    module: "sigs.k8s.io/metrics-server",
    // The module has the chart 3.13.1; releases of kubernetes-sigs/metrics-server, metrics-server-helm-chart-3.14.0: this program.
    chart: { name: "metrics-server", version: "3.14.0", folder: "charts/metrics-server", appVersion: withoutV },
    // Dockerfile
    images: {
      "registry.k8s.io/metrics-server/metrics-server": {
        program: "metrics-server",
        path: "/metrics-server",
        user: "65534",
      },
    },
  },
  kyverno: {
    group: kyvernoGroup,
    module: "github.com/kyverno/kyverno",
    chart: {
      name: "kyverno",
      version: "3.9.1",
      isReleased: true,
      folder: "charts/kyverno",
      appVersion: (version) => version,
    },
    // .ko.yaml: ko puts a program below /ko-app and starts it as 65532; the chart asks for another user than root and names none.
    images: Object.fromEntries(
      [
        ["reg.kyverno.io/kyverno/kyverno", "kyverno"],
        ["reg.kyverno.io/kyverno/kyvernopre", "kyverno-init"],
        ["ghcr.io/kyverno/readiness-checker", "readiness-checker"],
      ].map(([repository, program = ""]) => [repository, { program, path: `/ko-app/${program}`, user: "65532" }]),
    ),
  },
  image_automation: {
    group: imageAutomationGroup,
    module: "github.com/fluxcd/image-reflector-controller",
    chart: { name: charts.flux.name, version: charts.flux.version },
    // Dockerfile
    images: Object.fromEntries(
      ["image-automation-controller", "image-reflector-controller"].map((program) => [
        `ghcr.io/fluxcd/${program}`,
        { program, path: `/usr/local/bin/${program}`, user: "65534:65534" },
      ]),
    ),
  },
  // Without a chart: that of prometheus-community is in no Go module. Paths and users are those of the Dockerfiles; with a user by name
  // kubelet refuses runAsNonRoot unless the pod has a number (runAsUser), as it does with upstream's images.
  prometheus: {
    group: prometheusGroup,
    onMachine: ["prometheus"],
    module: "github.com/prometheus/prometheus",
    release: prometheusRelease,
    images: {
      "quay.io/prometheus/prometheus": { program: "prometheus", path: "/bin/prometheus", user: "nobody" },
      "registry.k8s.io/kube-state-metrics/kube-state-metrics": {
        program: "kube-state-metrics",
        path: "/kube-state-metrics",
        user: "nobody",
        other: other(kubeStateMetricsGroup, "k8s.io/kube-state-metrics/v2"),
      },
      "quay.io/prometheus/node-exporter": {
        program: "node_exporter",
        path: "/bin/node_exporter",
        user: "nobody",
        other: other(nodeExporterGroup, "github.com/prometheus/node_exporter"),
      },
    },
  },
  // Without a chart: Git has upstream's manifests.
  cluster_api: {
    group: clusterApiGroup,
    module: "sigs.k8s.io/cluster-api",
    // Dockerfile of each
    images: {
      "registry.k8s.io/cluster-api/cluster-api-controller": {
        program: "cluster-api",
        path: "/manager",
        user: "65532",
      },
      "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller": {
        program: "cluster-api-provider-aws",
        path: "/manager",
        user: "65532",
        other: other(clusterApiGroup, "sigs.k8s.io/cluster-api-provider-aws/v2"),
      },
    },
  },
  aws_load_balancer_controller: {
    group: loadBalancerControllerGroup,
    module: "sigs.k8s.io/aws-load-balancer-controller",
    // Its tags have no path of a major version, so Go takes commits alone: the newest that is served, after this release (version-stable.txt).
    release: () => "v3.2.2",
    chart: {
      name: "aws-load-balancer-controller",
      version: "3.5.0",
      folder: "helm/aws-load-balancer-controller",
      appVersion: (version) => version,
    },
    // Dockerfile, on a distroless base whose user is root; the chart runs it as another.
    images: {
      "public.ecr.aws/eks/aws-load-balancer-controller": {
        program: "aws-load-balancer-controller",
        path: "/controller",
        user: "65532",
      },
    },
  },
  karpenter: {
    group: karpenterGroup,
    module: "github.com/aws/karpenter-provider-aws",
    // Tags of its image and numbers of its chart have no v.
    release: (version) => version.slice(1),
    chart: {
      name: "karpenter",
      version: "1.15.2",
      folder: "charts/karpenter",
      appVersion: (version) => version,
    },
    // .ko.yaml: ko puts the program below /ko-app; the chart runs it as another user than root.
    images: {
      "public.ecr.aws/karpenter/controller": { program: "controller", path: "/ko-app/controller", user: "65532" },
    },
  },
  velero: {
    group: veleroGroup,
    module: "github.com/vmware-tanzu/velero",
    // Chart.yaml of vmware-tanzu/helm-charts velero-12.1.0 has this program's version as its appVersion.
    chart: { name: "velero", version: "12.1.0", definitions: ["config/crd/v1/bases", "config/crd/v2alpha1/bases"] },
    images: {
      // Dockerfile, on a base whose user has a name; the chart's values give it a number. Without the helpers for copies of volumes' files.
      "docker.io/velero/velero": { program: "velero", path: "/velero", user: "65532:65532" },
      // Dockerfile: run as an init container, it copies the plugin to where Velero looks for plugins.
      "docker.io/velero/velero-plugin-for-aws": {
        program: "cp-plugin",
        path: "/bin/cp-plugin",
        arguments: ["/plugins/velero-plugin-for-aws", "/target/velero-plugin-for-aws"],
        beside: { "/plugins/velero-plugin-for-aws": "velero-plugin-for-aws" },
        user: "65532:65532",
        other: other(veleroGroup, "github.com/vmware-tanzu/velero-plugin-for-aws"),
      },
    },
  },
  ack_dynamodb: standIn("dynamodb", "1.9.2"),
  ack_sqs: standIn("sqs", "1.6.1"),
} as const satisfies Readonly<Record<string, Addon>>;
