import type { ControlPlaneLogType } from "../../lib/eks-baseline.ts";
import type { Tags } from "../../lib/labels.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import type { Sealing } from "../../lib/spoke.ts";
import type { EndpointService } from "./endpoints.ts";
import type { KubeCondition, KubeObject } from "./kube.ts";
import type { Team } from "./teams.ts";

/**
 * A Spoke as the API server hands it over: defaults are filled in and the rules of its definition hold
 * (repos/gitops-system/platform/api/definition.yaml, where every field is described).
 */
export interface Spoke extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly namespace: string };
  readonly spec: SpokeSpec;
  readonly status?: SpokeStatus;
}

/** Traffic that a flow log tells; the names are EC2's. */
export const flowLogTraffic = ["ALL", "ACCEPT", "REJECT"] as const;
export type FlowLogTraffic = (typeof flowLogTraffic)[number];

/** How nodes reach the internet: `none` gives them public addresses, `isolated` no way. */
export type NatGateways = "single" | "per-zone" | "none" | "isolated";

/** What runs a spoke's pods: `node-groups` of `nodes` or `nodeGroups`, or nodes of EKS Auto Mode (auto-mode.ts). */
type Compute = "node-groups" | "auto";

export interface SpokeSpec {
  readonly region: string;
  readonly kubernetesVersion: string;
  readonly environment: string;
  /** The ring whose branch of gitops-system the spoke follows. */
  readonly ring?: string;
  /** What Crossplane keeps in the specification. */
  readonly crossplane?: {
    readonly compositionRef?: { readonly name: string };
    readonly compositionRevisionRef?: { readonly name: string };
  };
  readonly sealing: Sealing;
  /** How calls that tell of pushes are signed; undefined where nobody calls. */
  readonly gitReceiver?: ReceiverType;
  readonly tenant: string;
  /** Tags of a company, beside those of the stack. */
  readonly tags?: Tags;
  /** ARN of the key of the volumes; undefined for the account's default key. */
  readonly volumeKey?: string;
  readonly account?: { readonly id: string; readonly providerConfigRef: ProviderConfigRef };
  readonly network: {
    readonly cidr?: string;
    readonly zones: number;
    readonly availabilityZones?: readonly string[];
    readonly natGateways: NatGateways;
    /** A VPC that is there (`existing-network.ts`); then no other field of the network counts. */
    readonly existing?: ExistingNetwork;
    /** Which traffic the flow log of the VPC tells; undefined without one. */
    readonly flowLogs?: FlowLogTraffic;
    /** Secondary block of the VPC, in which the pods are; undefined where they are in the subnets of the nodes. */
    readonly podCidr?: string;
    /** Block of the addresses of Services; undefined where EKS chooses it. */
    readonly serviceIpv4Cidr?: string;
    /** Services with an endpoint in the VPC, beside S3; undefined without one. */
    readonly endpoints?: readonly EndpointService[];
    /** The company's transit gateway that the VPC is attached to; undefined without one. */
    readonly transitGateway?: {
      readonly id: string;
      /** Networks that the private subnets reach through it. */
      readonly destinationCidrs: readonly string[];
    };
  };
  /** What runs pods. */
  readonly compute: Compute;
  readonly nodes: NodeFields & { readonly amiType: AmiType };
  /** In the place of `nodes`, where there are some. */
  readonly nodeGroups?: readonly NodeGroupSpec[];
  readonly endpoint: {
    readonly public: boolean;
    readonly publicAccessCidrs: readonly string[];
    readonly privateAccessCidrs: readonly string[];
  };
  readonly admins: readonly string[];
  readonly teams: readonly Team[];
  readonly addons: readonly string[];
  readonly eksAddonVersions: Readonly<Partial<Record<AnyEksAddon, string>>>;
  readonly logTypes: readonly ControlPlaneLogType[];
  readonly logRetentionDays: number;
  /** ARN of the key of the log groups; undefined for a key that AWS owns. */
  readonly logKey?: string;
  readonly kmsDeletionWindowDays: number;
  /** Whether Session Manager opens shells on the nodes. */
  readonly sessionManager: boolean;
  readonly deletionProtection: boolean;
  /** What becomes of the cluster when the Spoke is deleted. */
  readonly deletionPolicy: "Delete" | "Orphan";
  /** What of it exists before the hub makes it (`existing.ts`). */
  readonly existing?: Existing;
}

/** A VPC of somebody else, and the subnets in it that the spoke may use: IDs. */
export interface ExistingNetwork {
  readonly vpcId: string;
  readonly privateSubnetIds: readonly string[];
  readonly publicSubnetIds?: readonly string[];
}

/** What every node group has. */
interface NodeFields {
  readonly instanceTypes: readonly string[];
  readonly capacityType: "ON_DEMAND" | "SPOT";
  /** GiB. */
  readonly diskSize: number;
  readonly min: number;
  readonly desired: number;
  readonly max: number;
}

/** A group of `spec.nodeGroups`. */
export interface NodeGroupSpec extends NodeFields {
  readonly name: string;
  readonly amiFamily: "AmazonLinux2023" | "Bottlerocket";
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  /** As in Kubernetes. */
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/**
 * What of a spoke exists in AWS before the hub knows of it: IDs by composition resource name, those of rules by network, those of the
 * launch templates of further node groups by group, and those of associations of EKS Pod Identity by role.
 */
export interface Existing extends Readonly<Partial<Record<string, unknown>>> {
  /** What makes and keeps the cluster in the hub's place (`made-elsewhere.ts`); then no ID counts but that of the OIDC provider. */
  readonly madeBy?: "ClusterAPI";
  readonly "api-from"?: Readonly<Record<string, string>>;
  readonly "launch-templates"?: Readonly<Record<string, string>>;
  readonly "pod-identities"?: Readonly<Record<string, string>>;
}

export interface ProviderConfigRef {
  readonly kind: "ClusterProviderConfig" | "ProviderConfig";
  readonly name: string;
}

/** The EKS add-ons of every spoke: a pod network, service routing, names and volumes. */
export const eksAddons = ["vpc-cni", "kube-proxy", "coredns", "aws-ebs-csi-driver"] as const;
/** The EKS add-on whose agent, on every node, gives pods the roles of their associations: of spokes that use EKS Pod Identity. */
export const podIdentityAgent = "eks-pod-identity-agent";
/** EKS add-ons that a spoke may have. */
export const anyEksAddons = [...eksAddons, podIdentityAgent] as const;
export type AnyEksAddon = (typeof anyEksAddons)[number];

/** AMI types of nodes; the names are EKS's (EKS API Reference, CreateNodegroup, `amiType`). `spec.nodes` names one of the first two. */
export const amiTypes = [
  "AL2023_x86_64_STANDARD",
  "AL2023_ARM_64_STANDARD",
  "AL2023_x86_64_NVIDIA",
  "AL2023_ARM_64_NVIDIA",
  "BOTTLEROCKET_x86_64",
  "BOTTLEROCKET_ARM_64",
  "BOTTLEROCKET_x86_64_NVIDIA",
  "BOTTLEROCKET_ARM_64_NVIDIA",
] as const;
export type AmiType = (typeof amiTypes)[number];

export interface SpokeStatus {
  /** Written by Crossplane, from what the function says. */
  readonly conditions?: readonly KubeCondition[];
  readonly phase?: Phase;
  /** One sentence on what is going on. */
  readonly message?: string;
  /** Minor version that the control plane runs. */
  readonly kubernetesVersion?: string;
  /** Minor version of the nodes, of several groups the oldest. */
  readonly nodesKubernetesVersion?: string;
  /** Release of the node group's AMI; several groups have theirs in `nodeGroups`. */
  readonly nodesReleaseVersion?: string;
  /** With `spec.nodeGroups`. */
  readonly nodeGroups?: readonly NodeGroupStatus[];
  readonly network?: { readonly cidr?: string; readonly vpcId?: string; readonly egressCidrs?: readonly string[] };
  readonly cluster?: {
    readonly name: string;
    readonly arn?: string;
    readonly endpoint?: string;
    /** PEM in base64. */
    readonly certificateAuthority?: string;
    readonly oidcIssuer?: string;
    readonly oidcProviderArn?: string;
  };
  /** Orphan once everything that the Spoke is made of would outlive it. */
  readonly deletionPolicy?: "Orphan";
  readonly rollout?: Rollout;
  readonly hubAccess?: {
    readonly reason: HubAccessReason;
    /** What Flux on the hub last needed admin rights for. */
    readonly refused: readonly { readonly attempt: string; readonly message: string }[];
    /** Revision of the chain whose objects have been looked at. */
    readonly revision?: string;
  };
}

/** Reason of the condition HubAccessNarrow: why Flux on the hub administers the spoke; `Narrow` when it doesn't. */
export type HubAccessReason = "Narrow" | "Bootstrap" | "ChangeRefused" | "RoleTooNarrow" | "Removal";

/** A node group that there is. */
export interface NodeGroupStatus {
  readonly name: string;
  /** In EKS. */
  readonly nodeGroupName: string;
  readonly state: "Creating" | "Ready" | "Failing" | "Leaving";
  readonly nodes?: number;
  readonly kubernetesVersion?: string;
  readonly releaseVersion?: string;
}

/** What of the platform the spoke has. */
export interface Rollout {
  readonly ring?: string;
  /** CompositionRevision that the spoke is made by. */
  readonly composition?: string;
  /** Revision of gitops-system whose chain and tools are on the spoke, in Flux's form (`ring/early@sha1:…`); undefined before the first. */
  readonly revision?: string;
  /** The revision that Flux is bringing to the spoke, while it is another. */
  readonly next?: string;
  /** Since when the spoke has been Ready with this Composition and revision, RFC 3339; undefined while it is not. */
  readonly healthySince?: string;
}

export type Phase =
  | "Pending"
  | "Refused"
  | "Network"
  | "ControlPlane"
  | "Nodes"
  | "Identities"
  | "Bootstrap"
  | "Upgrading"
  | "Failing"
  | "Ready"
  | "Deleting";
