import type { KubernetesObject } from "@kubernetes/client-node";
import type { JSONWebKeySet } from "jose";
import type { NodeOptions } from "../../clusters/node-config.ts";
import type { ControlPlaneOptions } from "../../clusters/options.ts";
import type { ClusterAddresses, EndpointAccess, NodeAddresses } from "../../instance/index.ts";

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
  /** Resolves when the Node is Ready; rejects when it isn't after some seconds. */
  startNode(node: NodeOptions, readySeconds?: number): Promise<void>;
  /** Removes a node and its Node object. */
  stopNode(number: number): Promise<void>;
  /**
   * Turns the enforcement of NetworkPolicies on a started node on or off; it starts off. Resolves when that is in force.
   * NETWORK_POLICY_USER must have its rights in the cluster.
   */
  enforceNetworkPolicies(node: number, enforced: boolean): Promise<void>;
  /** Starts or stops the EKS Pod Identity Agent of a started node; it starts without. Resolves when that is in force. */
  runPodIdentityAgent(node: number, running: boolean): Promise<void>;
  /** Name of a node's Node object; EKS derives it from the node's address. */
  nodeName(cluster: number, node: number): string;
  /** Addresses of a node and of its pods; undefined where no node runs. */
  nodeAddresses(cluster: number, node: number): Pick<NodeAddresses, "address" | "podCidr"> | undefined;
  /** Addresses of the cluster with this number. Without `apiAddress` nothing listens at its endpoint. */
  addresses(
    cluster: number,
  ): Pick<ClusterAddresses, "serviceCidr" | "dnsAddress"> & Partial<Pick<ClusterAddresses, "apiAddress" | "nodesCidr">>;
  /** The API of the running cluster, as its administrator. */
  kube(): Promise<KubeApi>;
}

export interface Clusters {
  /** The cluster of this name, whether it exists yet or not. */
  of(name: string): ClusterRuntime;
  /** Lets each endpoint answer only the sources that it admits. Endpoints that are not listed answer nobody. */
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
