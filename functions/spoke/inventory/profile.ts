import { group, labelKeys } from "../../../lib/labels.ts";
import { ringLabel } from "../../../lib/rings.ts";
import type { KubeObject } from "../kube.ts";
import type { Finding, InventoryCluster } from "./cluster.ts";

/** ClusterProfiles of the Cluster Inventory API, v0.1.0 (sigs.k8s.io/cluster-inventory-api, apis/v1alpha1/clusterprofile_types.go). */
export const profileApi = { group: "multicluster.x-k8s.io", version: "v1alpha1", plural: "clusterprofiles" } as const;

/** Label with the name of the cluster manager, by which profiles of several managers are told apart. */
export const managerLabel = "x-k8s.io/cluster-manager";

/** Labels that the program sets or, where it has no value, takes away. */
export const ownLabels: readonly string[] = [
  ...[managerLabel, labelKeys.cluster, labelKeys.role, labelKeys.environment, labelKeys.tenant],
  ringLabel,
];

/** The fleet's name as a cluster manager: another one for each hub, as the API asks for. */
export const managerOf = (fleet: string): string => `eks-gitops-fleet-${fleet}`;

/** The access provider, by whose name a consumer chooses the program that makes its tokens. */
const accessProvider = "eks";

interface Condition extends Finding {
  readonly type: string;
  readonly lastTransitionTime: string;
}

interface AccessProvider {
  readonly name: string;
  readonly cluster: object;
}

export interface ProfileStatus {
  readonly version?: { readonly kubernetes?: string };
  readonly conditions?: readonly Condition[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly accessProviders?: readonly AccessProvider[];
  /** Deprecated, and read by tools beside the others. */
  readonly credentialProviders?: readonly AccessProvider[];
}

/** All that a status can have. */
export const statusKeys = [
  "version",
  "conditions",
  "properties",
  "accessProviders",
  "credentialProviders",
] as const satisfies readonly (keyof ProfileStatus)[];

export interface ClusterProfile extends KubeObject {
  readonly spec: { readonly displayName: string; readonly clusterManager: { readonly name: string } };
  readonly status?: ProfileStatus;
}

/** The bridge's facts, under names of the fleet's own, and `location`, which has that name in KEP-4322. */
function propertiesOf({ facts, region }: InventoryCluster): ProfileStatus["properties"] {
  const own = Object.entries(facts).flatMap(([key, value]) => (value ? [{ name: `${group}/${key}`, value }] : []));
  return [...own, { name: "location", value: region }].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Extensions that the API has reserved for programs that make tokens: one is handed to the program (KEP-541), the other is variables of its
 * environment (KEP-5339). There is one for arguments as well, a list, which the API's own definition refuses: an extension is an object.
 */
function accessOf({ access }: InventoryCluster): readonly AccessProvider[] {
  if (access === undefined) return [];
  const { server, certificateAuthority, clusterName, region } = access;
  const extensions = [
    { name: "client.authentication.k8s.io/exec", extension: { clusterName, region } },
    {
      name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-envs",
      extension: { EKS_CLUSTER_NAME: clusterName, AWS_REGION: region },
    },
  ];
  return [
    { name: accessProvider, cluster: { server, "certificate-authority-data": certificateAuthority, extensions } },
  ];
}

/** The profile of a cluster. A condition keeps its time as long as it keeps its status. @param found the profile that there is */
export function profileOf(
  cluster: InventoryCluster,
  fleet: string,
  found: ClusterProfile | undefined,
  now: Date,
): ClusterProfile {
  const { name, role, environment, tenant, ring, kubernetesVersion, healthy, joined } = cluster;
  const manager = managerOf(fleet);
  const time = now.toISOString().replace(/\.\d+Z$/, "Z");
  const condition = (type: string, finding: Finding): Condition => {
    const before = found?.status?.conditions?.find((each) => each.type === type);
    const isSame = before?.status === finding.status;
    return { type, ...finding, lastTransitionTime: isSame ? before.lastTransitionTime : time };
  };
  return {
    apiVersion: `${profileApi.group}/${profileApi.version}`,
    kind: "ClusterProfile",
    metadata: {
      name,
      labels: {
        [managerLabel]: manager,
        [labelKeys.cluster]: name,
        [labelKeys.role]: role,
        [labelKeys.environment]: environment,
        [labelKeys.tenant]: tenant,
        ...(ring === undefined ? {} : { [ringLabel]: ring }),
      },
    },
    spec: { displayName: `${fleet}/${name}`, clusterManager: { name: manager } },
    status: {
      ...(kubernetesVersion === undefined ? {} : { version: { kubernetes: kubernetesVersion } }),
      conditions: [condition("ControlPlaneHealthy", healthy), condition("Joined", joined)],
      properties: propertiesOf(cluster) ?? [],
      accessProviders: accessOf(cluster),
    },
  };
}
