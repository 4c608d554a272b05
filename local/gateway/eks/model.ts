import type * as eks from "@aws-sdk/client-eks";
import type { Taint } from "../../clusters/node-config.ts";
import type { Known, Wire } from "../aws/wire.ts";

export type Cluster = Known<
  Wire<eks.Cluster>,
  | "name"
  | "arn"
  | "version"
  | "status"
  | "roleArn"
  | "resourcesVpcConfig"
  | "accessConfig"
  | "tags"
  | "logging"
  | "identity"
  | "createdAt"
>;
export type Nodegroup = Known<
  Wire<eks.Nodegroup>,
  | "nodegroupName"
  | "nodegroupArn"
  | "clusterName"
  | "status"
  | "scalingConfig"
  | "subnets"
  | "nodeRole"
  | "version"
  | "tags"
  | "instanceTypes"
>;
export type AccessEntry = Known<
  Wire<eks.AccessEntry>,
  "principalArn" | "accessEntryArn" | "kubernetesGroups" | "username" | "type" | "tags"
>;
export type AccessPolicy = Known<Wire<eks.AssociatedAccessPolicy>, "policyArn" | "accessScope">;
export type Addon = Known<
  Wire<eks.Addon>,
  "addonName" | "addonArn" | "clusterName" | "addonVersion" | "status" | "tags"
>;
export type PodIdentityAssociation = Known<
  Wire<eks.PodIdentityAssociation>,
  "associationId" | "associationArn" | "namespace" | "serviceAccount" | "roleArn" | "disableSessionTags" | "tags"
>;
export type Update = Known<Wire<eks.Update>, "id" | "type" | "status" | "params" | "createdAt" | "errors">;

/** One node that belongs to a node group. */
export interface NodeRecord {
  /** 0 to 3 within the cluster. */
  readonly number: number;
  readonly name: string;
  /** `i-` and 17 hexadecimal digits. */
  readonly instanceId: string;
  readonly zone: string;
  /** Kubernetes version that it was started for. */
  readonly version: string;
  /** Release of its image and version of its launch template. */
  readonly image: string;
  /** When EKS began to drain it (seconds since 1970): for an update, or to scale down. */
  drain?: { readonly since: number; readonly for: "update" | "scaleDown" };
  /** When it stopped being Ready (seconds since 1970); absent while it is Ready. */
  missingSince?: number;
}

/** An instance of EC2 that joined a cluster by itself: its user data names the cluster. */
export interface SelfManagedNode {
  /** 0 to 3 within the cluster. */
  readonly number: number;
  readonly name: string;
  readonly instanceId: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly subnet: string;
  /** ARN of the role in its instance profile. */
  readonly role: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Fields of KubeletConfiguration. */
  readonly kubelet: Readonly<Record<string, unknown>>;
  /** Its instance shuts down. */
  leaving?: true;
}

/** One node of EKS Auto Mode. */
export interface AutoNodeRecord extends Pick<NodeRecord, "number" | "name" | "instanceId" | "zone" | "version"> {
  readonly instanceType: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Since when no pod is on it that keeps it (seconds since 1970). */
  emptySince?: number;
  /** Whether it is being drained. */
  leaving?: boolean;
}

export interface NodegroupRecord {
  nodegroup: Nodegroup;
  nodes: NodeRecord[];
  /** The running version update: whether it may delete pods, and the group's state before, which a failure restores. */
  versionUpdate?: {
    readonly force: boolean;
    readonly before: Pick<Nodegroup, "version" | "releaseVersion" | "launchTemplate">;
  };
  /** Whether the access entry of its node role was made with it. */
  ownsAccessEntry: boolean;
  clientRequestToken: string | undefined;
}

export interface AccessEntryRecord {
  entry: AccessEntry;
  /**
   * ID of the role that it was made for: it does not work for another one of the same ARN (EKS API reference, AccessEntry). Absent for
   * users.
   */
  roleId?: string | undefined;
  policies: AccessPolicy[];
}

export interface PodIdentityRecord {
  association: PodIdentityAssociation;
  clientRequestToken: string | undefined;
}

export interface UpdateRecord {
  update: Update;
  nodegroupName?: string;
  addonName?: string;
}

/** Everything that the EKS API knows of one cluster: one file. */
export interface ClusterRecord {
  /** 0 to 30: its addresses derive from it. */
  readonly number: number;
  cluster: Cluster;
  /** Hexadecimal, the last part of the issuer. */
  readonly oidcId: string;
  clientRequestToken: string | undefined;
  /**
   * The software that is installed without its add-on, by the add-on's name: the cluster was made with it (bootstrapSelfManagedAddons),
   * or the add-on was deleted with `preserve`.
   */
  preserved: Record<string, Pick<Addon, "configurationValues">>;
  nodegroups: Record<string, NodegroupRecord>;
  selfManagedNodes: SelfManagedNode[];
  /** Nodes that EKS Auto Mode started. */
  autoNodes: AutoNodeRecord[];
  accessEntries: Record<string, AccessEntryRecord>;
  addons: Record<string, Addon>;
  podIdentityAssociations: Record<string, PodIdentityRecord>;
  updates: Record<string, UpdateRecord>;
}
