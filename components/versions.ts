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
    version: "2.3.4",
    repository: "https://charts.crossplane.io/stable",
  },
  externalSecrets: {
    name: "external-secrets",
    // renovate: datasource=helm depName=external-secrets registryUrl=https://charts.external-secrets.io
    version: "0.20.4",
    repository: "https://charts.external-secrets.io",
  },
} as const satisfies Record<string, Chart>;

/** Kubernetes minors that EKS offers in standard support and that Flux 2.9 supports (1.34 to 1.36), oldest first. */
export const kubernetesVersions = ["1.34", "1.35"] as const;
