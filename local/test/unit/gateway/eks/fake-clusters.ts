import type { KubernetesObject } from "@kubernetes/client-node";
import type { NodeOptions } from "../../../../clusters/node-config.ts";
import type { ControlPlaneOptions } from "../../../../clusters/options.ts";
import type { ClusterRuntime, Clusters, KubeApi } from "../../../../gateway/eks/runtime.ts";
import type { EndpointAccess } from "../../../../instance/index.ts";

interface Pod extends KubernetesObject {
  readonly spec: { readonly nodeName: string };
}

type ControlPlaneSpec = Omit<ControlPlaneOptions, "tokenWebhookUrl">;

/** Clusters that exist in memory only; what a test wants to know or to break is public. */
export interface FakeClusters extends Clusters {
  readonly started: ControlPlaneSpec[];
  readonly planes: Map<string, ControlPlaneSpec>;
  readonly nodes: Map<string, NodeOptions>;
  /** Who reaches the endpoints, as it was said last. */
  endpoints: readonly EndpointAccess[];
  /** Nodes that enforce NetworkPolicies, as `cluster/number`. */
  readonly enforcing: Set<string>;
  /** Nodes that run the EKS Pod Identity Agent, as `cluster/number`. */
  readonly agents: Set<string>;
  readonly objects: Map<string, KubernetesObject>;
  /** The next starts of a control plane fail with these messages. */
  readonly failures: string[];
  /** Keeps control planes and nodes from starting until the given function is called. */
  hold(): () => void;
  /** Pods whose eviction was asked for, as often as it was. */
  readonly evicted: string[];
  /** Pods that a PodDisruptionBudget keeps where they are. */
  readonly budgeted: Set<string>;
  /** Why nodes fail to start, by their names; they don't join their cluster. */
  readonly unstartable: Map<string, string>;
  /** Names of nodes that are not Ready. */
  readonly notReady: Set<string>;
  /** Whether CoreDNS becomes Ready. */
  coreDnsReady: boolean;
}

export function fakeClusters(): FakeClusters {
  const objects = new Map<string, KubernetesObject>();
  const nodes = new Map<string, NodeOptions>();
  const keyOf = (cluster: string, kind = "", name = "", namespace = ""): string =>
    [cluster, kind, namespace, name].join("/");
  let gate: Promise<void> = Promise.resolve();
  const clusters: FakeClusters = {
    hold: () => {
      let release = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    started: [],
    planes: new Map(),
    nodes,
    enforcing: new Set(),
    agents: new Set(),
    endpoints: [],
    objects,
    failures: [],
    evicted: [],
    budgeted: new Set(),
    unstartable: new Map(),
    notReady: new Set(),
    coreDnsReady: true,
    of: (name) => runtimeOf(name),
    filterEndpoints: async (endpoints) => {
      clusters.endpoints = endpoints;
    },
  };
  const runtimeOf = (cluster: string): ClusterRuntime => ({
    numbers: { first: 0, end: 31 },
    startControlPlane: async (options) => {
      const spec = { name: cluster, ...options };
      await gate;
      const failure = clusters.failures.shift();
      if (failure !== undefined) throw new Error(failure);
      clusters.started.push(spec);
      clusters.planes.set(spec.name, spec);
      objects.set(keyOf(spec.name, "Namespace", "default"), { metadata: { name: "default" } });
      return { endpoint: `https://100.64.254.${spec.number + 1}`, certificateAuthority: "PEM" };
    },
    stopControlPlane: async () => {
      clusters.planes.delete(cluster);
      for (const key of objects.keys()) if (key.startsWith(`${cluster}/`)) objects.delete(key);
    },
    startNode: async (node) => {
      await gate;
      const failure = clusters.unstartable.get(node.nodeName);
      if (failure !== undefined) throw new Error(failure);
      nodes.set(`${cluster}/${node.number}`, node);
      if (clusters.notReady.has(node.nodeName))
        throw new Error(`node ${node.nodeName} is not Ready (it has no network)`);
    },
    stopNode: async (number) => {
      const name = nodes.get(`${cluster}/${number}`)?.nodeName;
      // Its pods go with it.
      for (const [key, object] of objects)
        if (key.startsWith(`${cluster}/Pod/`) && (object as Pod).spec.nodeName === name) objects.delete(key);
      objects.delete(keyOf(cluster, "Node", name));
      nodes.delete(`${cluster}/${number}`);
      clusters.enforcing.delete(`${cluster}/${number}`);
      clusters.agents.delete(`${cluster}/${number}`);
    },
    runPodIdentityAgent: async (number, running) => {
      await gate;
      const key = `${cluster}/${number}`;
      if (!nodes.has(key)) throw new Error(`node ${key} was never started`);
      if (running) clusters.agents.add(key);
      else clusters.agents.delete(key);
    },
    enforceNetworkPolicies: async (number, enforced) => {
      await gate;
      const key = `${cluster}/${number}`;
      if (!nodes.has(key)) throw new Error(`node ${key} was never started`);
      if (enforced && !objects.has(keyOf(cluster, "ClusterRoleBinding", "eks:network-policy")))
        throw new Error("eks:network-policy may not list NetworkPolicies");
      if (enforced) clusters.enforcing.add(key);
      else clusters.enforcing.delete(key);
    },
    nodeName: (number, node) => `ip-100-64-${8 * number}-${4 * node + 2}.ec2.internal`,
    nodeAddresses: (number, node) => ({
      address: `100.64.${8 * number}.${4 * node + 2}`,
      podCidr: `100.64.${8 * number + 4 + node}.0/24`,
    }),
    addresses: (number) => ({
      serviceCidr: `100.64.${8 * number + 1}.0/24`,
      dnsAddress: `100.64.${8 * number + 1}.10`,
      apiAddress: `100.64.254.${number + 1}`,
      nodesCidr: `100.64.${8 * number}.0/21`,
    }),
    kube: async () => fakeKube(cluster),
  });
  const fakeKube = (cluster: string): KubeApi => ({
    apply: async (all) => {
      for (const object of all)
        objects.set(keyOf(cluster, object.kind, object.metadata?.name, object.metadata?.namespace), object);
    },
    remove: async (all) => {
      for (const object of all)
        objects.delete(keyOf(cluster, object.kind, object.metadata?.name, object.metadata?.namespace));
    },
    evict: async (namespace, name) => {
      clusters.evicted.push(name);
      if (!clusters.budgeted.has(name)) objects.delete(keyOf(cluster, "Pod", name, namespace));
    },
    find: async (_version, kind, name, namespace) => {
      const found = objects.get(keyOf(cluster, kind, name, namespace));
      const ready = clusters.coreDnsReady ? { readyReplicas: 1, updatedReplicas: 1, observedGeneration: 1 } : {};
      return (kind === "Deployment" && found !== undefined ? { ...found, status: ready } : found) as never;
    },
    list: async (_version, kind) => {
      if (kind === "Node")
        return [...nodes]
          .filter(([key]) => key.startsWith(`${cluster}/`))
          .map(([, node]) => ({
            metadata: { name: node.nodeName },
            status: {
              conditions: [{ type: "Ready", status: clusters.notReady.has(node.nodeName) ? "False" : "True" }],
            },
          })) as never;
      return [...objects].filter(([key]) => key.startsWith(`${cluster}/${kind}/`)).map(([, object]) => object) as never;
    },
    keys: async () => ({ keys: [] }),
  });
  return clusters;
}
