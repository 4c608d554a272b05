import type { KubernetesObject } from "@kubernetes/client-node";
import type { JSONWebKeySet } from "jose";
import type { Taint } from "../../clusters/node-config.ts";
import type { EndpointAccess } from "../../instance/index.ts";

/** A control plane to start. */
export interface ControlPlaneSpec {
  readonly name: string;
  /** Unique within the instance, one of {@link ClusterRuntime.numbers}. */
  readonly number: number;
  /** Minor version, such as "1.34". */
  readonly kubernetesVersion: string;
  readonly issuer: string;
  /** ARN of the KMS key that Secrets are to be encrypted with; undefined leaves them plain in etcd. */
  readonly encryptionKeyArn: string | undefined;
}

export interface NodeSpec {
  /** 0 to 3, unique within the cluster. */
  readonly number: number;
  readonly nodeName: string;
  /** `i-…`, new for every node. */
  readonly instanceId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly instanceType: string;
  readonly zone: string;
}

/** Whole numbers from `first`, below `end`. */
export interface NumberRange {
  readonly first: number;
  readonly end: number;
}

/** Addresses of a cluster. */
interface ClusterNetwork {
  readonly serviceCidr: string;
  readonly dnsAddress: string;
  /** Undefined for a cluster that nobody can reach. */
  readonly endpoint?: {
    readonly address: string;
    /** Where packets of its nodes and pods come from. */
    readonly nodesCidr: string;
  };
}

/** What runs clusters (local/clusters; a fake in unit tests). All of it is idempotent. */
export interface ClusterRuntime {
  /** Cluster numbers that a cluster of this name may have: from `first`, below `end`. */
  numbers(cluster: string): NumberRange;
  /** Resolves when the API server is ready; another version than the running one restarts it. `certificateAuthority` is PEM. */
  startControlPlane(spec: ControlPlaneSpec): Promise<{ endpoint: string; certificateAuthority: string }>;
  /** Removes control plane and nodes with everything that they hold. */
  stopControlPlane(name: string): Promise<void>;
  /** Resolves when the Node is Ready. */
  startNode(cluster: string, node: NodeSpec): Promise<void>;
  /** Removes a node and its Node object. */
  stopNode(cluster: string, number: number): Promise<void>;
  /**
   * Whether a started node enforces NetworkPolicies; until told, it doesn't. Resolves when that is so. The cluster has given
   * NETWORK_POLICY_USER its rights.
   */
  enforceNetworkPolicies(cluster: string, node: number, enforced: boolean): Promise<void>;
  /** The name of a node: EKS derives it from the address. */
  nodeName(cluster: { name: string; number: number }, number: number): string;
  addresses(cluster: { name: string; number: number }): ClusterNetwork;
  /** Has endpoints answer those whom they admit; named are all that can be reached. */
  filterEndpoints(endpoints: readonly EndpointAccess[]): Promise<void>;
  /** The API of a running cluster, as its administrator. */
  kube(cluster: string): Promise<KubeApi>;
}

/** The few things that the gateway does inside a cluster. */
export interface KubeApi {
  /** Server-side apply as field manager "eks". */
  apply(objects: readonly KubernetesObject[]): Promise<void>;
  /** Removes objects; those that are gone already count as removed. */
  remove(objects: readonly KubernetesObject[]): Promise<void>;
  /** Asks for the eviction of a pod; one that is gone counts as evicted, one that a PodDisruptionBudget holds stays. */
  evict(namespace: string, name: string): Promise<void>;
  /** An object, or undefined when there is none. */
  find<T extends KubernetesObject>(
    apiVersion: string,
    kind: string,
    name: string,
    namespace?: string,
  ): Promise<T | undefined>;
  /** All objects of a kind (in a namespace), those with these labels. */
  list<T extends KubernetesObject>(apiVersion: string, kind: string, labels?: string): Promise<T[]>;
  /** The keys that verify service account tokens. */
  keys(): Promise<JSONWebKeySet>;
}
