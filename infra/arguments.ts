import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { EncryptionKeyArgs } from "../components/encryption-key.ts";
import type { FleetBoundary, FleetBoundaryArgs } from "../components/fleet-boundary.ts";
import type { FluxArgs } from "../components/flux.ts";
import type { GitAuthentication } from "../components/git-credentials.ts";
import type { Registries } from "../components/helm-addon.ts";
import type { HubCluster, HubClusterArgs } from "../components/hub-cluster.ts";
import type { HubNodesArgs } from "../components/hub-nodes.ts";
import { type ClusterNetwork, eksZones, Network } from "../components/network.ts";
import { spokeBoundary } from "../lib/iam/boundary.ts";
import { tenantBoundary as tenantPolicy } from "../lib/iam/tenants.ts";
import { clusterTag, fleetTag } from "../lib/labels.ts";
import { fleetNames, hubName } from "../lib/names.ts";
import type { RegistryCredentials } from "../lib/registries.ts";
import type { AwsAccount } from "./account.ts";
import type { HubIdentities } from "./identities.ts";
import type { Settings } from "./settings.ts";

export type Tags = Readonly<Record<string, string>>;

/** Tags of every AWS resource: IAM policies and people tell fleets and clusters apart by them. */
export function tags({ fleet, environment }: Settings): Tags {
  return { [fleetTag]: fleet, [clusterTag]: hubName, environment };
}

export interface HubNetwork extends ClusterNetwork {
  /** IPv4 block of the VPC. */
  readonly cidr: pulumi.Input<string>;
  /** Zones of the region in which EKS has control planes. */
  readonly availabilityZones: pulumi.Output<string[]>;
  /** What must exist as long as nodes do. */
  readonly dependencies: pulumi.Resource[];
}

/** A new VPC, or the existing one that the settings name. */
export function network(settings: Settings, { region }: AwsAccount, tags: Tags): HubNetwork {
  const { vpcId, privateSubnetIds, publicSubnetIds, egressCidrs } = settings;
  if (vpcId) {
    return {
      vpcId,
      cidr: aws.ec2.getVpcOutput({ id: vpcId }).cidrBlock,
      privateSubnetIds: [...privateSubnetIds],
      publicSubnetIds: [...publicSubnetIds],
      nodeSubnetIds: [...privateSubnetIds],
      egressCidrs: [...egressCidrs],
      availabilityZones: eksZones(),
      dependencies: [],
    };
  }
  const made = new Network(hubName, {
    cidr: settings.vpcCidr,
    zoneCount: settings.zones,
    zoneNames: settings.availabilityZones,
    privateCidrs: settings.privateSubnetCidrs,
    publicCidrs: settings.publicSubnetCidrs,
    natGateways: settings.natGateways,
    region,
    tags,
  });
  const { privateSubnetIds: privateIds, publicSubnetIds: publicIds, nodeSubnetIds } = made;
  return {
    vpcId: made.vpcId,
    cidr: settings.vpcCidr,
    privateSubnetIds: privateIds,
    publicSubnetIds: publicIds,
    nodeSubnetIds,
    egressCidrs: made.egressCidrs,
    availabilityZones: made.availabilityZones,
    dependencies: [made],
  };
}

export function cluster(settings: Settings, account: AwsAccount, network: ClusterNetwork, tags: Tags): HubClusterArgs {
  const names = fleetNames(settings.fleet);
  return {
    clusterName: names.hubCluster,
    kubernetesVersion: settings.kubernetesVersion,
    network,
    endpoint: {
      public: settings.endpointPublicAccess,
      publicCidrs: settings.endpointPublicAccessCidrs,
      private: settings.endpointPrivateAccess,
      privateCidrs: settings.endpointPrivateAccessCidrs,
    },
    admins: [...new Set([...settings.clusterAdmins, settings.argocdRoleArn].filter(Boolean))],
    roleName: names.clusterRole,
    permissionsBoundary: settings.permissionsBoundary || undefined,
    logGroupName: names.clusterLogGroup,
    logTypes: settings.logTypes,
    logRetentionInDays: settings.logRetentionDays,
    keyAlias: names.clusterKeyAlias,
    keyDeletionWindowInDays: settings.kmsDeletionWindowDays,
    deletionProtection: settings.deletionProtection,
    protect: settings.protect,
    awsProfile: new pulumi.Config("aws").get("profile"),
    region: account.region,
    partition: account.partition,
    tags,
  };
}

export function nodes(
  settings: Settings,
  { partition }: AwsAccount,
  cluster: HubCluster,
  { nodeSubnetIds }: ClusterNetwork,
  tags: Tags,
): HubNodesArgs {
  const names = fleetNames(settings.fleet);
  return {
    cluster,
    nodeGroupName: names.nodeGroup,
    kubernetesVersion: settings.kubernetesVersion,
    subnetIds: nodeSubnetIds,
    instanceTypes: settings.nodeInstanceTypes,
    capacityType: settings.nodeCapacityType,
    amiType: settings.nodeAmiType,
    releaseVersion: settings.nodeReleaseVersion,
    diskSize: settings.nodeDiskSize,
    scaling: { min: settings.nodeMin, desired: settings.nodeDesired, max: settings.nodeMax },
    roleName: names.nodeRole,
    permissionsBoundary: settings.permissionsBoundary || undefined,
    partition,
    tags,
  };
}

export function secretsKey({ fleet, kmsDeletionWindowDays, protect }: Settings, tags: Tags): EncryptionKeyArgs {
  return {
    description: `Sealing keys and Git credentials of fleet ${fleet}`,
    alias: fleetNames(fleet).secretsKeyAlias,
    deletionWindowInDays: kmsDeletionWindowDays,
    tags,
    protect,
  };
}

export function gitAuthentication(settings: Settings): GitAuthentication {
  switch (settings.gitAuthentication) {
    case "deploy-key":
      return { method: "deploy-key", knownHosts: settings.gitKnownHosts };
    case "token":
      return {
        method: "token",
        username: settings.gitUsername,
        token: pulumi.secret(settings.gitToken),
        caCertificate: settings.gitCaCertificate,
      };
    case "github-app":
      return {
        method: "github-app",
        appId: settings.githubAppId,
        installationId: settings.githubAppInstallationId,
        privateKey: pulumi.secret(settings.githubAppPrivateKey),
        baseUrl: settings.githubAppBaseUrl,
        caCertificate: settings.gitCaCertificate,
      };
  }
}

export function boundary(
  { fleet }: Settings,
  account: AwsAccount,
  tenants: FleetBoundary,
  tags: Tags,
): FleetBoundaryArgs {
  return {
    policyName: fleetNames(fleet).boundaryPolicy,
    description: "Permissions boundary of every role that the fleet's Crossplane makes",
    document: pulumi
      .all([pulumi.output(account), tenants.arn])
      .apply(([scope, tenantBoundaryArn]) => spokeBoundary({ ...scope, fleet, tenantBoundaryArn })),
    tags,
  };
}

export function tenantBoundary({ fleet }: Settings, account: AwsAccount, tags: Tags): FleetBoundaryArgs {
  return {
    policyName: fleetNames(fleet).tenantBoundaryPolicy,
    description: "Permissions boundary of every role that an application orders on a spoke",
    document: pulumi.output(account).apply(tenantPolicy),
    tags,
  };
}

/** Where the charts of the hub and their images come from. */
export function registries(settings: Settings): Registries {
  const { chartsUsername: username, chartsPassword, pullSecret } = settings;
  return {
    charts: settings.chartsRegistry,
    chartsCredential: username ? { username, password: pulumi.secret(chartsPassword) } : undefined,
    images: settings.imagesRegistry,
    pullSecret: pullSecret ? pulumi.secret(pullSecret) : undefined,
  };
}

/** The credentials of mirrors, for Git. */
export function registryCredentials(settings: Settings): pulumi.Output<RegistryCredentials> {
  const { pullSecret, chartsUsername, chartsPassword } = settings;
  return pulumi.secret({ pullSecret, chartsUsername, chartsPassword });
}

export function fluxRoles(identities: HubIdentities): FluxArgs["roleArns"] {
  return {
    "kustomize-controller": identities["kustomize-controller"].arn,
    "helm-controller": identities["helm-controller"].arn,
  };
}
