import type { HubCluster, HubClusterArgs } from "../components/hub-cluster.ts";
import type { HubNodes, HubNodesArgs } from "../components/hub-nodes.ts";
import type { IrsaRoleArgs } from "../components/irsa-role.ts";
import type { ClusterNetwork } from "../components/network.ts";
import type { IdentitySource } from "../lib/bridge-facts.ts";
import { clusterTags } from "../lib/company-tags.ts";
import { noPath } from "../lib/iam/policy.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, hubName } from "../lib/names.ts";
import type { Settings } from "./settings.ts";

/** Tags of every AWS resource: IAM policies and people tell fleets and clusters apart by them. */
export const tags = ({ tags: ofCompany, fleet, environment }: Settings): Tags =>
  clusterTags({ tags: ofCompany, fleet, cluster: hubName, environment });

/** The role of Argo CD can be among the administrators already. */
const administrators = ({ clusterAdmins, argocdHubAdmin, argocdRoleArn }: Settings): string[] =>
  argocdHubAdmin ? [...new Set([...clusterAdmins, argocdRoleArn])] : [...clusterAdmins];

/** What every role of the stack has: its path, and the boundary of the company. */
export const ofEveryRole = ({ rolePath, permissionsBoundary }: Pick<Settings, "rolePath" | "permissionsBoundary">) => ({
  rolePath: rolePath === noPath ? undefined : rolePath,
  permissionsBoundary: permissionsBoundary || undefined,
});

/** The hub's control plane, as the settings describe it. */
export function clusterArgs(settings: Settings, network: ClusterNetwork, tags: Tags): HubClusterArgs {
  return {
    network,
    version: settings.kubernetesVersion,
    admins: administrators(settings),
    viewers: settings.clusterViewers,
    clusterName: fleetNames(settings.fleet).hubCluster,
    serviceIpv4Cidr: settings.serviceIpv4Cidr || undefined,
    endpointPublicAccess: settings.endpointPublicAccess,
    endpointPublicAccessCidrs: settings.endpointPublicAccessCidrs,
    endpointPrivateAccess: settings.endpointPrivateAccess,
    endpointPrivateAccessCidrs: settings.endpointPrivateAccessCidrs,
    ...ofEveryRole(settings),
    logTypes: settings.logTypes,
    logRetentionDays: settings.logRetentionDays,
    logKey: settings.logKey || undefined,
    kmsDeletionWindowDays: settings.kmsDeletionWindowDays,
    deletionProtection: settings.deletionProtection,
    protect: settings.protect,
    tags,
  };
}

/** The hub's nodes, as the settings describe them. */
export function nodeArgs(settings: Settings, cluster: HubCluster, tags: Tags): HubNodesArgs {
  return {
    cluster,
    instanceTypes: settings.nodeInstanceTypes,
    capacityType: settings.nodeCapacityType,
    amiType: settings.nodeAmiType,
    releaseVersion: settings.nodeReleaseVersion,
    diskSize: settings.nodeDiskSize,
    volumeKey: hubVolumeKey(settings),
    min: settings.nodeMin,
    desired: settings.nodeDesired,
    max: settings.nodeMax,
    sessionManager: settings.nodeSessionManager,
    podIdentityAgent: identitySource(settings) === "PodIdentity",
    ...ofEveryRole(settings),
    tags,
  };
}

/** The key that encrypts the volumes of the hub's nodes; undefined for the account's default key. */
export const hubVolumeKey = ({ volumeKeys: [first] }: Pick<Settings, "volumeKeys">): string | undefined => first;

/** How pods of the hub get the credentials of their roles. */
export const identitySource = ({ hubWorkloadIdentity }: Settings): IdentitySource =>
  hubWorkloadIdentity === "pod-identity" ? "PodIdentity" : "IRSA";

/** What roles of pods on the hub trust. */
export type PodTrust = Pick<IrsaRoleArgs, "oidc" | "podIdentity">;

export const podTrust = ({ oidc }: HubCluster, { podIdentity }: HubNodes): PodTrust => ({ oidc, podIdentity });
