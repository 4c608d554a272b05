import type * as z from "zod";
import { invalidParameter } from "./errors.ts";

/** Where every add-on is installed. */
export const NAMESPACE = "kube-system";

/** One add-on that the gateway serves. */
export interface CatalogEntry {
  readonly name: string;
  readonly type: string;
  /** The embedded cloud's own version, the default. `MINOR` stands for the cluster's Kubernetes minor. */
  readonly own: string;
  /** EKS's versions, by minor. */
  readonly eks?: Readonly<Record<string, string>>;
  /** JSON schema of the members of configurationValues. */
  readonly properties?: z.core.JSONSchema.ObjectSchema["properties"];
  /** Whether members outside of `properties` are refused. */
  readonly closed?: boolean;
  /** The DaemonSet of an add-on that nodes have anyway. */
  readonly daemonSet?: string;
}

export const COREDNS = "coredns";
export const VPC_CNI = "vpc-cni";

/** The setting of vpc-cni that turns the enforcement of NetworkPolicies on; without it EKS enforces none. */
export const NETWORK_POLICY = "enableNetworkPolicy";

/** The add-on without which nodes give pods no credentials for their pod identity associations. */
export const POD_IDENTITY_AGENT = "eks-pod-identity-agent";

/**
 * The add-ons: CoreDNS is installed, kube-proxy and the VPC CNI are what the node has anyway, with a DaemonSet to be found by (the
 * latter decides whether it enforces NetworkPolicies), the pod identity agent is a process of each node, the rest is recorded only.
 */
export const CATALOG: readonly CatalogEntry[] = [
  {
    name: COREDNS,
    type: "networking",
    own: "v1.14.6-eksbuild.1",
    eks: { "1.34": "v1.12.4-eksbuild.29", "1.35": "v1.13.2-eksbuild.21", "1.36": "v1.14.3-eksbuild.16" },
    properties: {
      replicaCount: { type: "integer" },
      resources: { type: "object" },
      tolerations: { type: "array" },
      nodeSelector: { type: "object" },
      affinity: { type: "object" },
      podAnnotations: { type: "object" },
      podLabels: { type: "object" },
    },
    closed: true,
  },
  {
    name: "kube-proxy",
    type: "networking",
    daemonSet: "kube-proxy",
    own: "vMINOR.4-eksbuild.1",
    eks: { "1.34": "v1.34.6-eksbuild.21", "1.35": "v1.35.3-eksbuild.21", "1.36": "v1.36.0-eksbuild.21" },
  },
  {
    name: VPC_CNI,
    type: "networking",
    daemonSet: "aws-node",
    own: "v1.20.4-eksbuild.1",
    eks: { "1.34": "v1.22.4-eksbuild.3", "1.35": "v1.22.4-eksbuild.3", "1.36": "v1.22.4-eksbuild.3" },
    // Not a boolean: EKS's schema wants it as a string (aws eks describe-addon-configuration --addon-name vpc-cni).
    properties: {
      [NETWORK_POLICY]: { type: "string", enum: ["true", "false"] },
      env: { type: "object", additionalProperties: { type: "string" } },
      // The chart has it so (charts/aws-vpc-cni of amazon-vpc-cni-k8s: templates/eniconfig.yaml).
      eniConfig: {
        type: "object",
        properties: {
          create: { type: "boolean" },
          region: { type: "string" },
          subnets: {
            type: "object",
            additionalProperties: {
              type: "object",
              properties: { id: { type: "string" }, securityGroups: { type: "array", items: { type: "string" } } },
              required: ["id"],
              additionalProperties: false,
            },
          },
        },
        required: ["create", "region", "subnets"],
        additionalProperties: false,
      },
    },
  },
  {
    name: "aws-ebs-csi-driver",
    type: "storage",
    own: "v1.51.0-eksbuild.1",
    eks: { "1.34": "v1.66.0-eksbuild.1", "1.35": "v1.66.0-eksbuild.1", "1.36": "v1.66.0-eksbuild.1" },
  },
  { name: POD_IDENTITY_AGENT, type: "security", own: "v1.3.10-eksbuild.2" },
];

/** Versions for a Kubernetes minor; the first is the default. */
export function versionsOf({ own, eks = {} }: CatalogEntry, minor: string): string[] {
  return [own.replace("MINOR", minor), ...(eks[minor] ? [eks[minor]] : [])];
}

/**
 * What a cluster has without add-ons, as EKS installs it unless it is told not to
 * (https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html, bootstrapSelfManagedAddons).
 */
export const selfManaged = (): Record<string, object> => ({ [COREDNS]: {}, "kube-proxy": {}, [VPC_CNI]: {} });

/** The add-on of this name. Throws InvalidParameterException that lists the available add-ons. */
export function catalogEntry(name: string): CatalogEntry {
  const found = CATALOG.find((entry) => entry.name === name);
  if (found === undefined)
    throw invalidParameter(
      `Addon ${name} specified is not supported: the embedded cloud has ${CATALOG.map((entry) => entry.name).join(", ")}`,
    );
  return found;
}

/** The requested version, or the default for the cluster's Kubernetes version. Throws InvalidParameterException. */
export function addonVersion(entry: CatalogEntry, kubernetesVersion: string, asked: string | undefined): string {
  const offered = versionsOf(entry, kubernetesVersion);
  if (asked !== undefined && !offered.includes(asked))
    throw invalidParameter(
      `Addon version specified is not supported: got ${asked} for ${entry.name}, with Kubernetes ${kubernetesVersion} the embedded cloud has ${offered.join(", ")}`,
    );
  return asked ?? (offered[0] as string);
}
