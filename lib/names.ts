import { createHash } from "node:crypto";

/** Longest physical names, from the service's API reference. */
export const nameLimits = {
  eksCluster: 100,
  eksNodeGroup: 63,
  ec2LaunchTemplate: 128,
  iamRole: 64,
  iamPolicy: 128,
  kmsAlias: 250,
  kubernetesLabel: 63,
  kubernetesObject: 253,
  helmRelease: 53,
  logGroup: 512,
  rdsInstance: 63,
  s3Bucket: 63,
  secret: 512,
} as const;

type NameKind = keyof typeof nameLimits;

/** The hub's name in the fleet: the name in its cluster secret and the last part of its EKS cluster's name. */
export const hubName = "hub";

/** Begins the scope of one cluster's own sealing keys; so no environment's name may. */
export const clusterScopePrefix = "cluster-";

/** Scope of the hub's own sealing keys; no spoke is called hub. */
export const hubSealingScope = `${clusterScopePrefix}${hubName}`;

/** Namespaces on the hub, and on a spoke where it has the same controller. */
export const namespaces = {
  flux: "flux-system",
  crossplane: "crossplane-system",
  /** The hub's: Spokes and everything that belongs to one of them. */
  spokes: "spokes",
  /** A spoke's: the Sealed Secrets controller and its keys. */
  sealedSecrets: "sealed-secrets",
} as const;

/**
 * Namespaces on a spoke that are nobody's application: no application is called so, and no team has one. A test compares them with what
 * gitops-system makes on a spoke with every add-on of the catalogue.
 */
export const platformNamespaces: readonly string[] = [
  ...Object.values(namespaces),
  "external-secrets",
  "fleet-releases",
  "ack-dynamodb",
  "ack-sqs",
  "argocd",
  "aws-load-balancer-controller",
  "cert-manager",
  "external-dns",
  "karpenter",
  "node-exporter",
  "opencost",
  "prometheus",
  "kyverno",
  "velero",
  "default",
];

/** Whether a namespace of a spoke is the platform's, or Kubernetes' own. */
export const isPlatformNamespace = (name: string): boolean =>
  platformNamespaces.includes(name) || name.startsWith("kube-");

/** Repositories with credentials of their own; also the names of their Flux objects. */
export const repositories = ["gitops-system", "gitops-workloads"] as const;
export type Repository = (typeof repositories)[number];

/** Services of AWS, by their prefixes in IAM, that Crossplane on the hub has a provider for: each has a role of its own. */
export const crossplaneServices = ["ec2", "eks", "iam", "kms", "logs"] as const;
export type CrossplaneService = (typeof crossplaneServices)[number];

/** Controllers on the hub that have an IAM role. */
export const hubIdentities = [
  "external-secrets",
  ...crossplaneServices.map((service) => `crossplane-${service}` as const),
  "kustomize-controller",
  "helm-controller",
] as const;
export type HubIdentity = (typeof hubIdentities)[number];

/**
 * The service account of a provider of Crossplane, on the hub and on spokes (repos/gitops-system/platform/crossplane/packages,
 * tools/base/crossplane-packages); the provider's name is the service's, but for CloudWatch Logs.
 */
export const providerAccount = (service: string): string =>
  `provider-aws-${service === "logs" ? "cloudwatchlogs" : service}`;

/** What of Crossplane's rights in an account that is not the hub's stands in managed policies of its role (lib/iam/crossplane.ts). */
export const crossplaneParts = ["roles", "oidc-providers"] as const;

/** The service account of the agent that sends a cluster's metrics (repos/gitops-system/tools/base/addons/prometheus). */
export const metricsAgent = { namespace: "prometheus", serviceAccount: "prometheus-sa" } as const;

/** The service account of Cluster API's AWS provider on the hub, as upstream's manifests call it (cluster-api-provider-aws, config/default). */
export const clusterApiController = { namespace: "capa-system", serviceAccount: "capa-controller-manager" } as const;

/**
 * Controllers that pull from Amazon ECR in a pod, by their names in the bridge, with their service accounts as the charts flux2 2.19.0 and
 * crossplane 2.4.3 name them. They get roles only where the fleet's charts or packages are in ECR (lib/iam/ecr.ts).
 */
export const pullers = {
  source_controller: { namespace: namespaces.flux, serviceAccount: "source-controller" },
  crossplane_packages: { namespace: namespaces.crossplane, serviceAccount: "crossplane" },
} as const;
export type Puller = keyof typeof pullers;

/** Every physical name that is derived from the name of a hub's EKS cluster. */
export const clusterNames = (cluster: string) => ({
  clusterRole: `${cluster}-cluster`,
  nodeRole: `${cluster}-node`,
  nodeGroup: `${cluster}-nodes`,
  clusterKeyAlias: `alias/${cluster}-cluster`,
  /** EKS fixes it (EKS User Guide, "Send control plane logs to CloudWatch Logs"). */
  clusterLogGroup: `/aws/eks/${cluster}/cluster`,
});

/** Every physical name that is derived from the fleet's name. Two fleets in one account share none of them. */
export function fleetNames(fleet: string) {
  const hub = `${fleet}-${hubName}`;
  return {
    hubCluster: hub,
    ...clusterNames(hub),
    identityRole: (identity: HubIdentity) => `${hub}-${identity}`,
    /** Of the hub's Crossplane in another account, and its managed policies, besides the policy in it. */
    crossplaneRole: `${hub}-crossplane`,
    crossplanePolicies: crossplaneParts.map((part) => `${hub}-crossplane-${part}`),
    /** Of the agent that sends the hub's metrics. */
    metricsRole: `${hub}-prometheus`,
    /** Of a controller that pulls from Amazon ECR, by its name in the bridge. */
    pullerRole: (puller: string) => `${hub}-${puller.replaceAll("_", "-")}`,
    /** Of Argo CD on the hub, and the one that it assumes on spokes. */
    argocdRole: `${hub}-argocd`,
    argocdSpokesRole: `${hub}-argocd-spokes`,
    /** With which the hub writes spokes for an Argo CD elsewhere into Secrets Manager, and the secret of each. */
    argocdSecretsRole: `${hub}-argocd-secrets`,
    argocdSecret: (spoke: string) => `${fleet}/argocd/${spoke}`,
    /** Of Cluster API's AWS provider on the hub, and the key of the Kubernetes secrets of clusters that it makes. */
    clusterApiRole: `${hub}-cluster-api`,
    clusterApiKeyAlias: `alias/${fleet}-cluster-api`,
    /** Of the roles that it makes; templates/cluster-api names it. */
    clusterApiBoundaryPolicy: `${fleet}-cluster-api-boundary`,
    /** With which Grafana reads the fleet's metrics. */
    grafanaRole: `${hub}-grafana`,
    boundaryPolicy: `${fleet}-boundary`,
    tenantBoundaryPolicy: `${fleet}-tenant-boundary`,
    addonBoundaryPolicy: `${fleet}-addon-boundary`,
    /** Of the roles of control planes with EKS Auto Mode. */
    autoModeBoundaryPolicy: `${fleet}-auto-mode-boundary`,
    /** Of a job of GitHub's workflows; the boundary of these roles and their policies begin so too. */
    ciRole: (purpose: string) => `${fleet}-ci-${purpose}`,
    /** Crossplane's territory: clusters, roles and log groups whose names begin so. No hub name does. */
    spokePrefix: `${fleet}-spoke-`,
    secretsKeyAlias: `alias/${fleet}-secrets`,
    gitSecret: (repository: Repository) => `${fleet}/git/${repository}`,
    /** Token of the hub's Receiver: the Git host proves by it that a call is its own. */
    hubReceiverSecret: `${fleet}/git/receivers/hub`,
    /** Prefix of every token of a Receiver in Secrets Manager. */
    receiverPrefix: `${fleet}/git/receivers/`,
    /** What a notification of the hub's Flux needs: the token or the address of a channel or Git host. */
    notificationSecret: (notification: string) => `${fleet}/notifications/${notification}`,
    /** A spoke's own Git credential, for those who would rather keep it in Secrets Manager than sealed in Git. */
    spokeGitSecret: (spoke: string) => `${fleet}/git/spokes/${spoke}`,
    sealingKeySecret: (scope: string, generation: string) => `${sealingKeyPrefix(fleet, scope)}${scope}/${generation}`,
  };
}

/**
 * The boundary of spokes' roles allows the prefix of spokes' keys, so the hub's own have another: a pattern can't leave out a scope, and a Deny has
 * no room.
 */
const sealingKeyPrefix = (fleet: string, scope: string): string =>
  `${fleet}/${scope === hubSealingScope ? "hub-sealing-keys" : "sealing-keys"}/`;

/** Scope and generation of the sealing key with this name in Secrets Manager; undefined for another secret. */
export function sealingKeyOf(fleet: string, secret: string): { scope: string; generation: string } | undefined {
  const [, scope = "", generation = ""] = secret.match(/^[^/]+\/(?:hub-)?sealing-keys\/([^/]+)\/([^/]+)$/) ?? [];
  return fleetNames(fleet).sealingKeySecret(scope, generation) === secret ? { scope, generation } : undefined;
}

/**
 * Names of the roles on the hub that pods have; one pattern for Crossplane's, which take room. Those of External Secrets are for service
 * accounts of stores, under which no pod runs.
 */
export function hubPodRoles(fleet: string): string[] {
  const names = fleetNames(fleet);
  const flux = (["kustomize-controller", "helm-controller"] as const).map(names.identityRole);
  return [
    ...[`${names.crossplaneRole}-*`, ...flux, names.pullerRole("source_controller")],
    ...[names.metricsRole, names.argocdRole, names.clusterApiRole],
  ];
}

/** Names of the boundary policies that the stack makes. */
export function fleetBoundaries(fleet: string): string[] {
  const names = fleetNames(fleet);
  return [
    names.boundaryPolicy,
    names.tenantBoundaryPolicy,
    names.addonBoundaryPolicy,
    names.autoModeBoundaryPolicy,
    names.clusterApiBoundaryPolicy,
  ];
}

/** Whether an IAM role is one that the fleet makes: of its controllers, its nodes, or an application's pods. */
export function isFleetRole(fleet: string, arn: string): boolean {
  const name = arn.split("/").at(-1) ?? "";
  const { hubCluster, spokePrefix } = fleetNames(fleet);
  return name.startsWith(`${hubCluster}-`) || name.startsWith(spokePrefix);
}

/** A derived name with its limit, for a check before anything is created. */
export interface DerivedName {
  readonly kind: NameKind;
  readonly name: string;
}

/** Names derived from `fleet` and the sealing scopes that have a limit which a long fleet or scope name can break. */
export function derivedNames(
  fleet: string,
  sealingKeys: readonly { scope: string; generation: string }[],
): DerivedName[] {
  const names = fleetNames(fleet);
  return [
    { kind: "eksCluster", name: names.hubCluster },
    { kind: "eksNodeGroup", name: names.nodeGroup },
    ...[
      ...[names.clusterRole, names.nodeRole, names.metricsRole, names.grafanaRole, names.argocdSecretsRole],
      ...hubIdentities.map(names.identityRole),
    ].map((name) => ({ kind: "iamRole", name }) as const),
    ...[...fleetBoundaries(fleet), ...names.crossplanePolicies].map((name) => ({ kind: "iamPolicy", name }) as const),
    { kind: "kmsAlias", name: names.clusterKeyAlias },
    { kind: "kmsAlias", name: names.secretsKeyAlias },
    { kind: "logGroup", name: names.clusterLogGroup },
    { kind: "kubernetesLabel", name: fleet },
    ...repositories.map((repository) => ({ kind: "secret", name: names.gitSecret(repository) }) as const),
    ...sealingKeys.map(
      ({ scope, generation }) => ({ kind: "secret", name: names.sealingKeySecret(scope, generation) }) as const,
    ),
  ];
}

/** The names in `derived` that exceed their limit. */
export function tooLong(derived: readonly DerivedName[]): DerivedName[] {
  return derived.filter(({ kind, name }) => name.length > nameLimits[kind]);
}

/**
 * `name`, or when it is longer than `limit` its beginning and a hash of the whole: distinct names stay distinct.
 * For names that nobody types; a name that people use is refused when it is too long (see {@link tooLong}).
 */
export function lengthSafe(name: string, limit: number): string {
  if (name.length <= limit) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, limit - hash.length - 1)}-${hash}`;
}
