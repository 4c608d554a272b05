import type { KubernetesObject } from "@kubernetes/client-node";
import type { JSONWebKeySet } from "jose";
import type { NodeOptions } from "../../clusters/node-config.ts";
import type { ControlPlaneOptions } from "../../clusters/options.ts";
import type { ClusterAddresses, EndpointAccess } from "../../instance/index.ts";

/** Whole numbers from `first`, below `end`. */
export interface NumberRange {
  readonly first: number;
  readonly end: number;
}

/** What runs one cluster (local/clusters; a fake in unit tests). All of it is idempotent. */
export interface ClusterRuntime {
  /** The cluster numbers that it may have. */
  readonly numbers: NumberRange;
  /** Resolves when the API server is ready; another version than the running one restarts it. `certificateAuthority` is PEM. */
  startControlPlane(
    options: Omit<ControlPlaneOptions, "name" | "tokenWebhookUrl">,
  ): Promise<{ endpoint: string; certificateAuthority: string }>;
  /** Removes control plane and nodes with everything that they hold. */
  stopControlPlane(): Promise<void>;
  /** Resolves when the Node is Ready. */
  startNode(node: NodeOptions): Promise<void>;
  /** Removes a node and its Node object. */
  stopNode(number: number): Promise<void>;
  /**
   * Whether a started node enforces NetworkPolicies; until told, it doesn't. Resolves when that is so. The cluster has given
   * NETWORK_POLICY_USER its rights.
   */
  enforceNetworkPolicies(node: number, enforced: boolean): Promise<void>;
  /** The name of a node, of which EKS makes it from the address. */
  nodeName(cluster: number, node: number): string;
  /** By the cluster's number; without `apiAddress` nobody can reach its endpoint. */
  addresses(
    cluster: number,
  ): Pick<ClusterAddresses, "serviceCidr" | "dnsAddress"> & Partial<Pick<ClusterAddresses, "apiAddress" | "nodesCidr">>;
  /** The API of the running cluster, as its administrator. */
  kube(): Promise<KubeApi>;
}

export interface Clusters {
  /** The cluster of this name, whether it exists yet or not. */
  of(name: string): ClusterRuntime;
  /** Has endpoints answer those whom they admit; named are all that can be reached. */
  filterEndpoints(endpoints: readonly EndpointAccess[]): Promise<void>;
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
