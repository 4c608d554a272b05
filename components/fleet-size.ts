/**
 * Resources of the controllers on the hub, by the number of spokes. How the numbers were found: docs/reference/fleet-size.md. What Git
 * sets by the same size (for the function and the providers) is in repos/gitops-system/platform/crossplane/packages/sizes.
 */

/** Requests and limits of a container. A limit on processors also sets how many Crossplane's Go runtime uses. */
interface Resources {
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly cpu?: string; readonly memory: string };
}

export interface FleetSize {
  /** Most spokes that the size is meant for. */
  readonly spokes: number;
  /**
   * Pods of each controller that can have more than one: one works (leader election), the others take over when its node fails.
   * source- and notification-controller and source-watcher always have one.
   */
  readonly replicas: number;
  readonly crossplane: Resources;
  /** kustomize- and helm-controller. */
  readonly reconcilers: Resources;
  /**
   * Pause before either looks again whether what an object depends on is ready, as a Go duration (their default is 30s). Each look is several
   * requests: in a change of every spoke's chain, a thousand objects that look every two seconds leave the API server no time for the work.
   */
  readonly dependencyPause: string;
  readonly sourceController: Resources;
  readonly externalSecrets: Resources;
}

const resources = (cpu: string, memory: string, limits: Resources["limits"]): Resources => ({
  requests: { cpu, memory },
  limits,
});

/** The defaults of the charts of Crossplane and Flux (crossplane 2.3.4; flux2 2.18.3, the newest that was
 * read), for one machine. */
const minimal: FleetSize = {
  spokes: 5,
  replicas: 1,
  crossplane: resources("100m", "256Mi", { cpu: "500m", memory: "1Gi" }),
  reconcilers: resources("100m", "64Mi", { memory: "2Gi" }),
  dependencyPause: "2s",
  sourceController: resources("100m", "64Mi", { memory: "2Gi" }),
  externalSecrets: resources("10m", "64Mi", { memory: "512Mi" }),
};

const small: FleetSize = {
  spokes: 25,
  replicas: 2,
  crossplane: resources("250m", "512Mi", { cpu: "1", memory: "2Gi" }),
  reconcilers: resources("100m", "256Mi", { memory: "2Gi" }),
  dependencyPause: "2s",
  sourceController: resources("100m", "256Mi", { memory: "2Gi" }),
  externalSecrets: resources("20m", "128Mi", { memory: "512Mi" }),
};

export const fleetSizes = {
  minimal,
  small,
  medium: {
    ...small,
    spokes: 100,
    crossplane: resources("500m", "1Gi", { cpu: "2", memory: "4Gi" }),
    reconcilers: resources("250m", "512Mi", { memory: "4Gi" }),
    dependencyPause: "10s",
  },
  large: {
    ...small,
    spokes: 250,
    crossplane: resources("1", "2Gi", { cpu: "4", memory: "8Gi" }),
    reconcilers: resources("500m", "1Gi", { memory: "8Gi" }),
    dependencyPause: "20s",
    sourceController: resources("250m", "512Mi", { memory: "4Gi" }),
  },
} as const satisfies Record<string, FleetSize>;

export type FleetSizeName = keyof typeof fleetSizes;

type Labels = Readonly<Record<string, string>>;

/** Spreads a controller's pods over zones and nodes, as far as there are several. */
export const spread = (labels: Labels) =>
  ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: labels },
  }));

/** The same for charts without such constraints. */
export const apart = (labels: Labels) => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: spread(labels).map(({ topologyKey, labelSelector }) => ({
      weight: 50,
      podAffinityTerm: { topologyKey, labelSelector },
    })),
  },
});

/** Allows one pod at a time to be evicted: with none allowed, a drain would never end. */
export const disruptionBudget = (name: string, namespace: string, labels: Labels) => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name, namespace },
  spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
});
