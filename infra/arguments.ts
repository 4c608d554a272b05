import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { EncryptionKeyArgs } from "../components/encryption-key.ts";
import type { FleetBoundary, FleetBoundaryArgs } from "../components/fleet-boundary.ts";
import type { FluxArgs } from "../components/flux.ts";
import type { GitAuthentication } from "../components/git-credentials.ts";
import type { HubCluster, HubClusterArgs } from "../components/hub-cluster.ts";
import type { HubNodesArgs } from "../components/hub-nodes.ts";
import { type ClusterNetwork, eksZones, Network } from "../components/network.ts";
import type { PackagePullSecretArgs } from "../components/package-pull-secret.ts";
import { spokeBoundary } from "../lib/iam/boundary.ts";
import { tenantBoundary as tenantPolicy } from "../lib/iam/tenants.ts";
import { clusterTag, fleetTag } from "../lib/labels.ts";
import { fleetNames, hubName, packagePullSecretName } from "../lib/names.ts";
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

export interface PullSecretSources {
  readonly settings: Settings;
  readonly account: AwsAccount;
  readonly cluster: HubCluster;
  /** How the fleet's secrets are kept. */
  readonly secret: Pick<PackagePullSecretArgs, "keyArn" | "recoveryWindowInDays" | "protect" | "tags">;
}

export function packagePullSecret({ settings, account, cluster, secret }: PullSecretSources): PackagePullSecretArgs {
  const names = fleetNames(settings.fleet);
  return {
    ...secret,
    dockerConfig: pulumi.secret(settings.packagePullSecret),
    name: packagePullSecretName,
    secretName: names.packagePullSecret,
    roleName: names.packagePullRole,
    permissionsBoundary: settings.permissionsBoundary || undefined,
    oidc: cluster.oidc,
    region: account.region,
    dnsSuffix: account.dnsSuffix,
  };
}

export function fluxRoles(identities: HubIdentities): FluxArgs["roleArns"] {
  return {
    "kustomize-controller": identities["kustomize-controller"].arn,
    "helm-controller": identities["helm-controller"].arn,
  };
}
