/** A cluster of Cluster API, as far as what guards it looks at it. */

export const inClusters = "cluster-api-clusters";

export const kindsOfCluster = [
  ["cluster.x-k8s.io", "Cluster"],
  ["controlplane.cluster.x-k8s.io", "AWSManagedControlPlane"],
  ["infrastructure.cluster.x-k8s.io", "AWSManagedCluster"],
  ["infrastructure.cluster.x-k8s.io", "AWSManagedMachinePool"],
] as const;

export const madeByClusterApi = { network: { cidr: "10.90.0.0/18" }, existing: { madeBy: "ClusterAPI" } };

export const spokeOf = (name: string, more: object = {}) => ({
  apiVersion: "fleet.internal/v1alpha1",
  kind: "Spoke",
  metadata: { name, namespace: "spokes", labels: { "fleet.internal/fleet": "fleet" } },
  spec: { region: "us-east-1", kubernetesVersion: "1.35", environment: "dev", ...more },
});

export const releaseOf = (name: string, targetNamespace = inClusters) => ({
  apiVersion: "helm.toolkit.fluxcd.io/v2",
  kind: "HelmRelease",
  metadata: { name: `cluster-${name}`, namespace: "flux-system" },
  spec: {
    interval: "10m",
    releaseName: name,
    targetNamespace,
    storageNamespace: targetNamespace,
    chart: {
      spec: { chart: "./charts/eks-cluster/1.0.0", sourceRef: { kind: "GitRepository", name: "gitops-system" } },
    },
    values: { cluster: { fleet: "fleet", name }, region: "us-east-1", machinePools: { nodes: { desired: 1 } } },
  },
});

export const stepOf = (name: string) => ({
  apiVersion: "kustomize.toolkit.fluxcd.io/v1",
  kind: "Kustomization",
  metadata: { name, namespace: "flux-system" },
  spec: { interval: "30m", prune: true, path: ".", sourceRef: { kind: "ExternalArtifact", name: "spoke-blue" } },
});

export const partsOf = (name: string) =>
  kindsOfCluster.map(([group, kind]) => ({
    apiVersion: `${group}/v1beta2`,
    kind,
    metadata: { name: `fleet-spoke-${name}`, namespace: inClusters, labels: { "fleet.internal/cluster": name } },
  }));

/** The definitions with which every cluster would go. */
export const definitionsOfClusters = kindsOfCluster
  .slice(0, 3)
  .map(([group, kind]) => `${kind.toLowerCase()}s.${group}`);

/** Changes of a release's specification that would have Helm remove the cluster that it is. */
export const anotherCluster: readonly (readonly [string, object])[] = [
  ["another release", { releaseName: "red" }],
  ["another namespace", { targetNamespace: "default" }],
  ["another namespace of Helm's records", { storageNamespace: "default" }],
  ["another cluster in its values", { values: { cluster: { name: "red" } } }],
  ["one of another fleet", { values: { cluster: { fleet: "other" } } }],
  ["another region", { values: { region: "eu-west-1" } }],
];
