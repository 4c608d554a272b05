/** Kubernetes labels and annotations of the fleet: one place for keys that components, the composition function and Git share. */

/** The project's API group and label prefix. */
export const group = "fleet.internal";

export const labelKeys = {
  cluster: `${group}/cluster`,
  /** Of a Spoke: the fleet whose hub makes it. */
  fleet: `${group}/fleet`,
  role: `${group}/role`,
  environment: `${group}/environment`,
  tenant: `${group}/tenant`,
} as const;

/** Tells Flux to reconcile at once what substitutes from the object (Flux's default `--watch-configs-label-selector`). */
export const watchLabel = { "reconcile.fluxcd.io/watch": "Enabled" } as const;

/** On the Flux objects on the hub that act on a spoke. The kubeconfig variant of the composition is patched into these. */
export const targetLabel = { [`${group}/target`]: "spoke" } as const;

/** On the nodes of a group of `spec.nodeGroups`: its name there, which stays when another group of EKS takes its place. */
export const nodeGroupLabel = `${group}/node-group`;

/** On the Kustomizations on the hub that make HelmReleases with {@link targetLabel}: the variant is handed on to those. */
export const releasesLabel = { [`${group}/releases`]: "spoke" } as const;

/** On the Kustomizations of the bootstrap chain that follow the Git revision of the spoke's stage. */
export const stageLabel = { [`${group}/source`]: "stage" } as const;

/** On the Kustomization of the bootstrap chain that brings the spoke its sources. */
export const sourcesLabel = { [`${group}/step`]: "sources" } as const;

/** On the Kustomizations of the bootstrap chain whose folders have a component `auto-mode`, for clusters with EKS Auto Mode. */
export const autoModeLabel = { [`${group}/auto-mode`]: "component" } as const;

/** On the Kustomization of the bootstrap chain that waits for the spoke's tools. */
export const toolsLabel = { [`${group}/step`]: "tools" } as const;

/** Annotation of a chain's objects for a spoke in a ring: the revision that the spoke gets with them. */
export const revisionAnnotation = `${group}/revision`;

/** On GitRepositories that are read again when the Git host calls the Receiver of their namespace. */
export const receiverLabel = { [`${group}/receiver`]: "git" } as const;

/** On a GitRepository of the hub whose commits are not those of gitops-system, and are not verified with the keys of its signers. */
export const unverifiedLabel = { [`${group}/verification`]: "none" } as const;

/** On the Kustomization of the bootstrap chain that brings the sealing keys: a spoke with keys of its own takes them from its folder. */
export const sealingLabel = { [`${group}/keys`]: "sealing" } as const;

/** On a Spoke's claim on its network: the /16 that the network lies in, so that the claims around a network are found. */
export const networkLabel = `${group}/network`;

/**
 * Crossplane's annotations: the name in AWS, the key in the Composition, and when the provider last began to make the resource, which stays,
 * and how that ended (crossplane-runtime, pkg/meta; crossplane, internal/controller/apiextensions/composite).
 */
export const crossplaneAnnotations = {
  externalName: "crossplane.io/external-name",
  resourceName: "crossplane.io/composition-resource-name",
  createPending: "crossplane.io/external-create-pending",
  createSucceeded: "crossplane.io/external-create-succeeded",
  createFailed: "crossplane.io/external-create-failed",
} as const;

/** Annotation of a managed resource whose next value has Crossplane's provider look at AWS at once. */
export const lookAgainAnnotation = `${group}/look-again`;

/** Annotation of a managed resource that EKS failed to create: the health issues of EKS. */
export const creationFailureAnnotation = `${group}/creation-failure`;

/**
 * Annotation of an application's namespace: the kinds that may be ordered in AWS from there, such as `dynamodb.Table`; without it tables and
 * queues.
 */
export const awsKindsAnnotation = `${group}/aws-kinds`;

/** Annotation of pods that act in AWS: how they get their credentials, where that is not IRSA. */
export const identityAnnotation = `${group}/aws-identity`;

/**
 * Annotations of a SealedSecret, which itself does not show what it was sealed with: the scope, and the SHA-256 of the certificate. They
 * are of the SealedSecret alone: the controller opens it without them, and the Secret does not get them.
 */
export const sealedAnnotations = { scope: `${group}/sealed-for`, certificate: `${group}/sealed-with` } as const;

/**
 * Annotations of a SealedSecret with a deploy key, which shows neither half of it: the public half as the Git host has it, the day on which it
 * was made, and the public half of the key in whose place it comes, as long as that is registered.
 */
export const deployKeyAnnotations = {
  publicKey: `${group}/deploy-key`,
  made: `${group}/deploy-key-made`,
  former: `${group}/former-deploy-key`,
} as const;

/** Tags of an AWS resource, by key. */
export type Tags = Readonly<Record<string, string>>;

/** AWS tag that says to which fleet a resource belongs. */
export const fleetTag = labelKeys.fleet;

/** AWS tag of a spoke's IAM roles: which of its identities the role is, e.g. external-secrets. */
export const identityTag = `${group}/identity`;

/** AWS tag of what Cluster API makes, with {@link clusterApiMaker} as its value: charts/eks-cluster gives it. */
export const madeByTag = `${group}/made-by`;
export const clusterApiMaker = "cluster-api";

/**
 * AWS tag by which the owner of a VPC lets spokes of the fleet that is its value use it and its subnets. The fleet gives it to nothing, and can't: it tags
 * what carries {@link fleetTag} only.
 */
export const sharedNetworkTag = `${group}/shared-network`;

/** AWS tag that names the cluster for which a resource exists. */
export const clusterTag = labelKeys.cluster;

/**
 * Tags of an IAM role that say for which EKS cluster and namespace it acts; the boundaries compare names and tags with them. The keys are
 * those of EKS Pod Identity's session tags (EKS User Guide, "Grant Pods access to AWS resources based on tags"), without a slash: AWS
 * shows no policy variable whose tag key has one.
 */
export const principalTags = { cluster: "eks-cluster-name", namespace: "kubernetes-namespace" } as const;

/**
 * Tags of what EKS Auto Mode makes (AWS Managed Policy Reference, "AmazonEKSBlockStoragePolicyV2", "AmazonEKSLoadBalancingPolicy",
 * "AmazonEKSNetworkingPolicy"). Anybody may set them: `aws:` is the prefix that AWS keeps to itself, `eks:` is none.
 */
export const autoModeTags = {
  /** The name of the cluster, on everything. */
  cluster: "eks:eks-cluster-name",
  /** Of volumes and their snapshots, in the place of the EBS CSI driver's `ebs.csi.aws.com/cluster`. */
  volume: "ebs.csi.eks.amazonaws.com/cluster",
  /** Of network interfaces of pods. */
  podInterface: "eks:kubernetes-cni-node-name",
  /** Prefixes of the keys that say for what in the cluster a load balancer, target group or security group is, as `<prefix>/stack` and `/resource`. */
  balancing: [
    ...["ingress.eks.amazonaws.com", "service.eks.amazonaws.com"],
    ...["gateway.eks.amazonaws.com.alb", "gateway.eks.amazonaws.com.nlb"],
  ],
} as const;

/**
 * The tag of the VPC endpoint and the security group that GuardDuty Runtime Monitoring creates (terraform-provider-aws#46953). With the value
 * "false" on an EKS cluster it excludes the cluster (GuardDuty User Guide, "Managing security agent automatically for Amazon EKS resources").
 */
export const guardDutyTag = { key: "GuardDutyManaged", value: "true" } as const;

/** Pod Security Standards levels, see the Kubernetes documentation. */
export type PodSecurityLevel = "baseline" | "restricted";

/** Namespace labels that enforce `level` and warn about what `restricted` would refuse. */
export function podSecurityLabels(level: PodSecurityLevel): Record<string, string> {
  return {
    "pod-security.kubernetes.io/enforce": level,
    "pod-security.kubernetes.io/warn": "restricted",
    "pod-security.kubernetes.io/audit": "restricted",
  };
}
