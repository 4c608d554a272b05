import type { ClusterRuntime, Clusters, KubeApi } from "./runtime.ts";

/** Environment variable with a regular expression: EKS clusters whose names match it are recorded only. */
export const RECORDED_CLUSTERS = "FLEET_RECORDED_CLUSTERS";

/** An address for documentation (RFC 5737): nothing answers there. */
const ENDPOINT = "https://192.0.2.1";

/**
 * A cluster of which nothing runs: control plane, nodes and add-ons are ACTIVE at once, and behind its endpoint is nothing. For
 * measuring what many spokes cost the hub. `certificateAuthority` is PEM.
 */
function recordedCluster(certificateAuthority: string): ClusterRuntime {
  const nodes = new Map<number, string>();
  const kube: KubeApi = {
    apply: async () => {},
    remove: async () => {},
    evict: async () => {},
    // Every object that is asked for exists, and is ready.
    find: async (apiVersion, kind, name) => ({ apiVersion, kind, metadata: { name }, status: ready }) as never,
    list: async (_apiVersion, kind) =>
      (kind !== "Node" ? [] : [...nodes.values()].map((name) => ({ metadata: { name }, status: nodeReady }))) as never,
    keys: async () => ({ keys: [] }),
  };
  return {
    // Above those of clusters that run, which have addresses by their number.
    numbers: { first: 1000, end: 2000 },
    startControlPlane: async () => ({ endpoint: ENDPOINT, certificateAuthority }),
    stopControlPlane: async () => nodes.clear(),
    startNode: async ({ number, nodeName }) => void nodes.set(number, nodeName),
    stopNode: async (number) => void nodes.delete(number),
    enforceNetworkPolicies: async () => {},
    runPodIdentityAgent: async () => {},
    nodeName: (number, node) => `ip-192-0-2-${number}-${node}.ec2.internal`,
    nodeAddresses: () => undefined,
    addresses: () => ({ serviceCidr: "172.20.0.0/16", dnsAddress: "172.20.0.10" }),
    kube: async () => kube,
  };
}

const ready = { readyReplicas: 1, updatedReplicas: 1, observedGeneration: 1 };
const nodeReady = { conditions: [{ type: "Ready", status: "True" }] };

/** Clusters that run, but for those whose names match `recorded`; without it all run. */
export function clustersBut(running: Clusters, recorded: string | undefined, certificateAuthority: string): Clusters {
  if (recorded === undefined || recorded === "") return running;
  const pattern = new RegExp(recorded);
  const known = new Map<string, ClusterRuntime>();
  return {
    ...running,
    of: (name) => {
      if (!pattern.test(name)) return running.of(name);
      const cluster = known.get(name) ?? recordedCluster(certificateAuthority);
      known.set(name, cluster);
      return cluster;
    },
  };
}
