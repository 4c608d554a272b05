import type { Taint } from "../../clusters/node-config.ts";
import type { NodePool } from "./auto-mode.ts";
import type { Offer, Room } from "./auto-scaling.ts";

const GIB = 2 ** 30;

/** Instance types that are offered, the smallest first: of the families and generations of EKS' own node pools ("Enable or disable built-in NodePools"). */
const TYPES: readonly (readonly [type: string, cpu: number, gibibytes: number])[] = [
  ["c6a.large", 2, 4],
  ["m6a.large", 2, 8],
  ["r6a.large", 2, 16],
  ["c6a.xlarge", 4, 8],
  ["m6a.xlarge", 4, 16],
  ["r6a.xlarge", 4, 32],
  ["m6a.2xlarge", 8, 32],
  ["m6a.4xlarge", 16, 64],
];

const taintsOf: Readonly<Record<NodePool, readonly Taint[]>> = {
  "general-purpose": [],
  system: [{ key: "CriticalAddonsOnly", value: "", effect: "NoSchedule" }],
};

/** Labels of Auto Mode's nodes (EKS User Guide, "Create a node pool for EKS Auto Mode", supported labels), without those of every node. */
function labelsOf(pool: NodePool, type: string, cpu: number, gibibytes: number): Record<string, string> {
  const [family = "", size = ""] = type.split(".");
  const [, category = "", generation = ""] = /^([a-z]+)([0-9]+)/.exec(family) ?? [];
  return {
    "eks.amazonaws.com/compute-type": "auto",
    "eks.amazonaws.com/nodeclass": "default",
    "eks.amazonaws.com/instance-category": category,
    "eks.amazonaws.com/instance-family": family,
    "eks.amazonaws.com/instance-generation": generation,
    "eks.amazonaws.com/instance-size": size,
    "eks.amazonaws.com/instance-cpu": String(cpu),
    "eks.amazonaws.com/instance-memory": String(gibibytes * 1024),
    "eks.amazonaws.com/instance-hypervisor": "nitro",
    "karpenter.sh/capacity-type": "on-demand",
    "karpenter.sh/nodepool": pool,
  };
}

/**
 * The nodes that the pools of a cluster offer, in the order in which they are taken: pods that tolerate everything don't take those of system first.
 * @param machine a node here has what the machine has, whatever its type, and so takes no pod that asks for more
 */
export const offersOf = (pools: readonly NodePool[], zones: readonly string[], machine: Room): Offer[] =>
  [...pools].sort().flatMap((pool) =>
    TYPES.flatMap(([instanceType, cpu, gibibytes]) =>
      zones.map((zone) => ({
        pool,
        instanceType,
        cpu: Math.min(cpu, machine.cpu),
        memory: Math.min(gibibytes * GIB, machine.memory),
        labels: {
          ...labelsOf(pool, instanceType, cpu, gibibytes),
          // As the kubelet registers them.
          "kubernetes.io/arch": "amd64",
          "kubernetes.io/os": "linux",
          "node.kubernetes.io/instance-type": instanceType,
          "topology.kubernetes.io/zone": zone,
        },
        taints: taintsOf[pool],
      })),
    ),
  );

/** The labels that a node is started with: the kubelet sets the others. */
export const ownLabels = ({ labels }: Pick<Offer, "labels">): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => /^(eks\.amazonaws\.com|karpenter\.sh)\//.test(key)));
