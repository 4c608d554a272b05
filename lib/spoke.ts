import { databaseDigest, databasePrefix } from "./iam/databases.ts";
import { flowLogGroup } from "./iam/flow-logs.ts";
import type { RoleSubject } from "./iam/trust.ts";
import { group } from "./labels.ts";
import {
  clusterScopePrefix,
  hubName,
  lengthSafe,
  nameLimits,
  namespaces,
  type Puller,
  providerAccount,
} from "./names.ts";
import { digestLength } from "./node-groups.ts";

/** The Spoke API, as repos/gitops-system/platform/api defines it. */
export const spokeApi = {
  apiVersion: `${group}/v1alpha1`,
  kind: "Spoke",
  plural: "spokes",
  /** The Composition of a Spoke that names none (`defaultCompositionRef`). */
  composition: "spoke",
  /** Every Spoke and what it is composed of live here. */
  namespace: namespaces.spokes,
} as const;

/** What a Spoke may be called; the API server says the same (repos/gitops-system/platform/api/definition.yaml). */
export const spokeNameRule = {
  allowed:
    "at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster-",
  accepts: (name: string): boolean =>
    name.length <= 40 && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) && name !== hubName && !name.startsWith("cluster-"),
} as const;

/** Whose sealing keys a spoke reads: those of its environment, which its spokes share, or keys of its own. */
export const sealings = ["environment", "cluster"] as const;
export type Sealing = (typeof sealings)[number];

/** Scope of the sealing keys that a spoke reads: a folder in Git, and a part of the keys' names in Secrets Manager. */
export function sealingScope(spoke: {
  readonly name: string;
  readonly environment: string;
  /** Default: environment. */
  readonly sealing?: Sealing | undefined;
}): string {
  return spoke.sealing === "cluster" ? `${clusterScopePrefix}${spoke.name}` : spoke.environment;
}

/** Prefix length of a spoke's network from the pool: 16,384 addresses, of which a zone's private subnet gets a quarter. */
export const poolPrefix = 18;

/**
 * Controllers on a spoke that have an IAM role, by add-on name in snake_case, with the only service accounts that may assume it. That of
 * Crossplane is for all its providers, because it reaches only what applications order; those of add-ons are always among them, because
 * pods that start before their association never get the role.
 */
export const spokeIdentities = {
  external_secrets: { namespace: namespaces.sealedSecrets, serviceAccount: "aws-secrets-manager" },
  crossplane: {
    namespace: namespaces.crossplane,
    serviceAccount: ["dynamodb", "iam", "rds", "s3", "sqs"].map(providerAccount),
  },
  /** The service account that the EKS add-on makes (EKS User Guide, "Amazon EBS CSI driver"). */
  aws_ebs_csi_driver: { namespace: "kube-system", serviceAccount: "ebs-csi-controller-sa" },
} as const satisfies Record<string, RoleSubject>;

export type SpokeIdentity = keyof typeof spokeIdentities;

/**
 * Kubernetes groups of Flux's controllers on the hub when they act on a spoke: their access entries hand them over, and the step
 * `access` of the bootstrap chain gives them their rights. EKS refuses groups that begin with system:, eks:, aws:, amazon: or iam:
 * (EKS User Guide, "Create access entries").
 */
export const hubGroups = {
  kustomize_controller: "fleet:hub-kustomize-controller",
  helm_controller: "fleet:hub-helm-controller",
} as const;

/** The provider whose own token is in kubeconfigs where the Composition has `kubeConfig: secret`: Flux's controllers use it, with both groups. */
export const kubeconfigIdentity = "crossplane_eks";

/**
 * Before the names of the roles that Cluster API passes to EKS (charts/eks-cluster). No name of a fleet, spoke, add-on or namespace has a full
 * stop, so a pattern with it matches no role of a cluster that Crossplane creates.
 */
export const clusterApiRoleSeparator = ".";

/**
 * Every physical name of the spoke `name`; `prefix` is the fleet's spoke prefix.
 * @param byClusterApi whether Cluster API creates the cluster
 */
export function spokeNames(prefix: string, name: string, byClusterApi = false) {
  const cluster = `${prefix}${name}`;
  const role = (suffix: string, separator = "-") => lengthSafe(`${cluster}${separator}${suffix}`, nameLimits.iamRole);
  const passed = (suffix: string) => role(suffix, byClusterApi ? clusterApiRoleSeparator : "-");
  return {
    cluster,
    clusterRole: passed("cluster"),
    nodeRole: passed("node"),
    flowLogRole: role("flow-logs"),
    identityRole: (identity: SpokeIdentity | Puller) =>
      (identity === "aws_ebs_csi_driver" ? passed : role)(identity.replaceAll("_", "-")),
    addonRole: (addon: string) => role(`addon-${addon.replaceAll("_", "-")}`),
    nodeGroup: lengthSafe(`${cluster}-nodes`, nameLimits.eksNodeGroup),
    /** A further group's; no cluster's name has the underscore, so that no two spokes share one. */
    furtherGroup: (group: string) =>
      `${lengthSafe(cluster, nameLimits.eksNodeGroup - digestLength - group.length - 2)}_${group}`,
    /** Of a further group; unique in the region. */
    furtherTemplate: (group: string) => `${cluster}_${group}`,
    keyAlias: `alias/${cluster}`,
    /** Beginning of names in RDS. */
    databases: databasePrefix(prefix, cluster),
    databaseDigest: databaseDigest(cluster),
    /** EKS fixes the name. */
    logGroup: `/aws/eks/${cluster}/cluster`,
    flowLogGroup: flowLogGroup(cluster),
  };
}
