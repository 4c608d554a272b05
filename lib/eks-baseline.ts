import { serviceTrust } from "./iam/trust.ts";

/**
 * What every EKS cluster of the fleet has, the hub that Pulumi makes and the spokes that Crossplane makes. Both providers know the
 * fields by these names, which are those of the EKS and EC2 APIs.
 */

/** Logs that an EKS control plane can write to CloudWatch (EKS API Reference, LogSetup). */
export const controlPlaneLogTypes = ["api", "audit", "authenticator", "controllerManager", "scheduler"] as const;

export type ControlPlaneLogType = (typeof controlPlaneLogTypes)[number];

/** Who did what, and who came in as whom. The default of hubs and spokes, and what the policy pack asks for. */
export const auditLogTypes: readonly ControlPlaneLogType[] = ["audit", "authenticator"];

/** Days for which CloudWatch can keep logs (CloudWatch Logs API Reference, PutRetentionPolicy). */
export const logRetentionTimes: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** Access entries alone decide who comes in, never the ConfigMap aws-auth (EKS API Reference, CreateAccessConfigRequest). */
export const authenticationMode = "API";

/**
 * EKS raises the version at the end of standard support (EKS API Reference, UpgradePolicyRequest). Extended support costs six times as
 * much and is EKS's default (Amazon EKS pricing); a fleet follows the versions.
 */
export const upgradePolicy = { supportType: "STANDARD" } as const;

/** Who assumes the role of a control plane, and with tags (EKS User Guide, "Amazon EKS cluster IAM role"). */
export const controlPlaneTrust = serviceTrust("eks.amazonaws.com", ["sts:AssumeRole", "sts:TagSession"]);

/** Who assumes the role of a node (EKS User Guide, "Amazon EKS node IAM role"). */
export const nodeTrust = serviceTrust("ec2.amazonaws.com");

/** The access policy of administrators (EKS User Guide, "Review access policy permissions"). */
export const adminAccessPolicy = "AmazonEKSClusterAdminPolicy";

/** The access policy of viewers: get, list and watch of everything, Secrets included (the same page). */
export const viewerAccessPolicy = "AmazonEKSAdminViewPolicy";

/**
 * A rule that lets a connected network in to the private endpoint: the cluster's own security group, which EKS makes and puts on the
 * endpoint's interfaces, admits its members only (EKS User Guide, "Cluster API server endpoint").
 */
export const apiIngress = (cidrIpv4: string) => ({
  description: "Kubernetes API from a connected network",
  ipProtocol: "tcp",
  fromPort: 443,
  toPort: 443,
  cidrIpv4,
});

/** The fleet decides on an add-on's settings, on those of one that EKS installed too (EKS API Reference, CreateAddon). */
export const addonConflicts = { resolveConflictsOnCreate: "OVERWRITE", resolveConflictsOnUpdate: "OVERWRITE" } as const;

const volume = (deviceName: string, volumeSize: number, kmsKeyId: string | undefined) => ({
  deviceName,
  ebs: {
    volumeSize,
    volumeType: "gp3",
    encrypted: "true",
    ...(kmsKeyId === undefined ? {} : { kmsKeyId }),
    deleteOnTermination: "true",
  },
});

/**
 * GiB of the volume that Bottlerocket has for itself, beside the one for images and containers (bottlerocket-os/bottlerocket, README, "Default
 * volumes"; Karpenter makes both as large, pkg/providers/amifamily/bottlerocket.go).
 */
export const bottlerocketDisk = 4;

/**
 * What the launch template of every node group says.
 * @param diskSize volume for images and containers in GiB
 * @param volumeKey ARN of the key of the volumes; undefined for the account's default key
 * @param isBottlerocket default: Amazon Linux 2023, which has one volume for everything
 */
export const nodeTemplate = (diskSize: number, volumeKey: string | undefined, isBottlerocket = false) => ({
  updateDefaultVersion: true,
  blockDeviceMappings: isBottlerocket
    ? [volume("/dev/xvda", bottlerocketDisk, volumeKey), volume("/dev/xvdb", diskSize, volumeKey)]
    : [volume("/dev/xvda", diskSize, volumeKey)],
  // One hop: pods that don't use the host's network can't take the node's role from the metadata service (EKS User Guide, "Amazon EKS
  // security best practices", on restricting access to IMDS).
  metadataOptions: { httpEndpoint: "enabled", httpTokens: "required", httpPutResponseHopLimit: 1 },
});

/** The provisioners of StorageClasses whose volumes are EBS's: the EKS add-on's, and that of EKS Auto Mode (EKS User Guide, "Create a storage class"). */
export const volumeProvisioners = { addon: "ebs.csi.aws.com", auto: "ebs.csi.eks.amazonaws.com" } as const;
