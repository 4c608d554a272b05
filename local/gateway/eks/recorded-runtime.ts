import type { ClusterRuntime, KubeApi, NodeSpec } from "./runtime.ts";

/** Environment variable with a regular expression: EKS clusters whose names match it are recorded only. */
export const RECORDED_CLUSTERS = "FLEET_RECORDED_CLUSTERS";

/** An address for documentation (RFC 5737): nothing answers there. */
const ENDPOINT = "https://192.0.2.1";

/**
 * Clusters of which nothing runs: control planes, nodes and add-ons are ACTIVE at once, and behind their endpoint is nothing. For
 * measuring what many spokes cost the hub. `certificateAuthority` is PEM.
 */
function recordedRuntime(certificateAuthority: string): ClusterRuntime {
  const nodes = new Map<string, Map<number, NodeSpec>>();
  const nodesOf = (cluster: string) => {
    const known = nodes.get(cluster) ?? new Map<number, NodeSpec>();
    nodes.set(cluster, known);
    return known;
  };
  return {
    // Above those of clusters that run, which have addresses by their number.
    numbers: () => ({ first: 1000, end: 2000 }),
    startControlPlane: async () => ({ endpoint: ENDPOINT, certificateAuthority }),
    stopControlPlane: async (name) => void nodes.delete(name),
    startNode: async (cluster, node) => void nodesOf(cluster).set(node.number, node),
    stopNode: async (cluster, number) => void nodesOf(cluster).delete(number),
    enforceNetworkPolicies: async () => {},
    nodeName: ({ number }, node) => `ip-192-0-2-${number}-${node}.ec2.internal`,
    addresses: () => ({ serviceCidr: "172.20.0.0/16", dnsAddress: "172.20.0.10" }),
    filterEndpoints: async () => {},
    kube: async (cluster) => recordedApi(() => [...nodesOf(cluster).values()]),
  };
}

/** Takes every object, has every object that is asked for, and all nodes are Ready. */
function recordedApi(nodes: () => readonly NodeSpec[]): KubeApi {
  const ready = { readyReplicas: 1, updatedReplicas: 1, observedGeneration: 1 };
  return {
    apply: async () => {},
    remove: async () => {},
    evict: async () => {},
    find: async (apiVersion, kind, name) => ({ apiVersion, kind, metadata: { name }, status: ready }) as never,
    list: async (_apiVersion, kind) =>
      (kind === "Node"
        ? nodes().map(({ nodeName }) => ({
            metadata: { name: nodeName },
            status: { conditions: [{ type: "Ready", status: "True" }] },
          }))
        : []) as never,
    keys: async () => ({ keys: [] }),
  };
}

/** A runtime that runs clusters, but for those whose names match `recorded`; without it all run. */
export function runtimeBut(
  running: ClusterRuntime,
  recorded: string | undefined,
  certificateAuthority: string,
): ClusterRuntime {
  if (recorded === undefined || recorded === "") return running;
  const pattern = new RegExp(recorded);
  const records = recordedRuntime(certificateAuthority);
  const of = (name: string) => (pattern.test(name) ? records : running);
  return {
    numbers: (name) => of(name).numbers(name),
    startControlPlane: (spec) => of(spec.name).startControlPlane(spec),
    stopControlPlane: (name) => of(name).stopControlPlane(name),
    startNode: (cluster, node) => of(cluster).startNode(cluster, node),
    stopNode: (cluster, number) => of(cluster).stopNode(cluster, number),
    enforceNetworkPolicies: (cluster, number, enforced) =>
      of(cluster).enforceNetworkPolicies(cluster, number, enforced),
    nodeName: (cluster, number) => of(cluster.name).nodeName(cluster, number),
    addresses: (cluster) => of(cluster.name).addresses(cluster),
    filterEndpoints: (endpoints) => running.filterEndpoints(endpoints),
    kube: (cluster) => of(cluster).kube(cluster),
  };
}
