/** Every version that the program installs. Renovate reads the comments; a chart's app version follows from the chart. */

/** A Helm chart with its upstream repository. */
export interface Chart {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
}

export const charts = {
  flux: {
    name: "flux2",
    // renovate: datasource=helm depName=flux2 registryUrl=https://fluxcd-community.github.io/helm-charts
    version: "2.19.0",
    repository: "https://fluxcd-community.github.io/helm-charts",
  },
  crossplane: {
    name: "crossplane",
    // renovate: datasource=helm depName=crossplane registryUrl=https://charts.crossplane.io/stable
    version: "2.4.3",
    repository: "https://charts.crossplane.io/stable",
  },
  externalSecrets: {
    name: "external-secrets",
    // renovate: datasource=helm depName=external-secrets registryUrl=https://charts.external-secrets.io
    version: "2.12.0",
    repository: "https://charts.external-secrets.io",
  },
} as const satisfies Record<string, Chart>;

/**
 * Image tags of Flux's controllers: the first ones that reject a kubeconfig with a path to a local file, such as the controller's own token
 * (CHANGELOG.md of kustomize-controller 1.9.5 and helm-controller 1.6.4). A newer chart brings newer images: remove the tags with the next one.
 */
export const fluxTags = {
  chart: "2.19.0",
  "kustomize-controller": "v1.9.5",
  "helm-controller": "v1.6.4",
} as const;

/**
 * The version of Grafana that a workspace of Amazon Managed Grafana runs, of those that it offers (`aws grafana list-versions`). A workspace
 * can be raised to a newer one, and never goes back (Amazon Managed Grafana User Guide, "Update your workspace version").
 */
export const grafanaVersion = "12.4";

/** A Kubernetes minor on EKS. */
export interface KubernetesRelease {
  readonly minor: string;
  /** Last day of EKS's standard support, as YYYY-MM-DD; then EKS raises control planes by itself (`supportType: STANDARD`). */
  readonly supportEnds: string;
}

/**
 * The minors in EKS's standard support, oldest first, without one that leaves it within days. Dates: EKS's release calendar
 * (docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html; `aws eks describe-cluster-versions`); `npm run check:upstream`
 * compares them every night.
 */
export const kubernetesReleases: readonly KubernetesRelease[] = [
  { minor: "1.35", supportEnds: "2027-03-27" },
  { minor: "1.36", supportEnds: "2027-08-02" },
  { minor: "1.37", supportEnds: "2027-12-01" },
];

/** The supported Kubernetes minors, oldest first. */
export const kubernetesVersions: readonly string[] = kubernetesReleases.map(({ minor }) => minor);

/** Days before the end of a minor's standard support at which warnings begin. */
export const supportWarningDays = 90;

/**
 * The warning about the end of a minor's standard support; undefined while it is far, and for minors that the table doesn't have.
 * @param today any moment of the day, in UTC
 */
export function supportWarning(minor: string, today: Date): string | undefined {
  const release = kubernetesReleases.find((each) => each.minor === minor);
  if (release === undefined) return undefined;
  const day = today.toISOString().slice(0, 10);
  const left = Math.round((Date.parse(release.supportEnds) - Date.parse(day)) / 86_400_000);
  if (left > supportWarningDays) return undefined;
  if (left < 0) return `Kubernetes ${minor} left EKS's standard support on ${release.supportEnds}`;
  return `Kubernetes ${minor} leaves EKS's standard support on ${release.supportEnds}, in ${left} day${left === 1 ? "" : "s"}`;
}

/** The newest Kubernetes minor that a component supports, by the minor of its chart. */
export interface KubernetesLimit {
  readonly component: string;
  readonly chart: keyof typeof charts;
  /** Minor of the chart. */
  readonly chartMinor: string;
  readonly newest: string;
}

/** Sources: section "Kubernetes compatibility" of each Flux release on GitHub; fluxcd.io/flux/installation, "Prerequisites". */
export const kubernetesLimits: readonly KubernetesLimit[] = [
  { component: "Flux 2.9", chart: "flux", chartMinor: "2.19", newest: "1.36" },
];

/** The warning about pinned components that don't support a Kubernetes minor; undefined if all do. */
export function compatibilityWarning(minor: string): string | undefined {
  const isBelow = (limit: KubernetesLimit) =>
    charts[limit.chart].version.startsWith(`${limit.chartMinor}.`) &&
    minor.localeCompare(limit.newest, "en", { numeric: true }) > 0;
  const limits = kubernetesLimits.filter(isBelow).map(({ component, newest }) => `${component} up to ${newest}`);
  return limits.length === 0 ? undefined : `Kubernetes ${minor} is newer than supported: ${limits.join(", ")}`;
}
