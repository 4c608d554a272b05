import { availableParallelism, totalmem } from "node:os";
import type { InstanceSize } from "../aws/instances.ts";
import { quantity } from "./quantity.ts";

const MIB = 2 ** 20;
/** What hypervisor and kernel keep of a type's memory, as Karpenter expects by default (its setting vmMemoryOverheadPercent). */
const MEMORY_OVERHEAD = 0.075;
/** nodeadm's threshold of memory, below which a node evicts pods: here nothing is evicted, so it is reserved. */
const EVICTION_MIB = 100;
/** nodeadm's share of each processor that is kept for Kubernetes, in thousandths of a thousandth: 6 %, 1 %, twice 0.5 %, then 0.25 %. */
const CPU_SHARES = [60, 10, 5, 5] as const;
const FURTHER_CPU_SHARE = 2.5;

/** A type's most pods without prefixes, where a NodeConfig says none. */
const MAX_PODS = 29;

/** A machine, as kubelet sees it. */
const machine = (): InstanceSize => ({ cpus: availableParallelism(), memoryMib: Math.floor(totalmem() / MIB) });

type Reserved = Readonly<Record<string, string>>;

/**
 * What kubelet of a node reserves, so that pods get what they would get on an instance of this type: for Kubernetes what nodeadm reserves
 * (awslabs/amazon-eks-ami, nodeadm/internal/kubelet: 11 MiB for each pod and 255 MiB), and for the system whatever the machine has more. A machine
 * that has less can't give what it does not have.
 * @param asked what the NodeConfig says: its `kubeReserved` is in the place of nodeadm's, its `systemReserved` beside ours
 */
export function reservedOn(
  type: InstanceSize,
  asked: { readonly maxPods?: number; readonly kubeReserved?: Reserved; readonly systemReserved?: Reserved } = {},
  has: InstanceSize = machine(),
): { readonly kubeReserved: Reserved; readonly systemReserved: Reserved } {
  const share = Array.from({ length: type.cpus }, (_, at) => CPU_SHARES[at] ?? FURTHER_CPU_SHARE);
  const cpu = share.reduce((sum, each) => sum + each, 0);
  const usable = Math.floor(type.memoryMib * (1 - MEMORY_OVERHEAD));
  const spare = {
    cpu: Math.max(0, has.cpus - type.cpus) * 1000 + milli(asked.systemReserved?.["cpu"]),
    memory: Math.max(0, has.memoryMib - usable) + EVICTION_MIB + mib(asked.systemReserved?.["memory"]),
  };
  return {
    kubeReserved: { cpu: `${cpu}m`, memory: `${11 * (asked.maxPods ?? MAX_PODS) + 255}Mi`, ...asked.kubeReserved },
    systemReserved: { cpu: `${spare.cpu}m`, memory: `${spare.memory}Mi` },
  };
}

/** The number that a quantity of Kubernetes stands for. */
function scalar(text: string): number {
  if (!/^\d+(?:\.\d+)?(m|[KMG]i|[kMG])?$/.test(text))
    throw new Error(`NodeConfig: got the quantity ${text}, allowed are numbers with m, k, M, G, Ki, Mi or Gi`);
  return quantity(text);
}

const milli = (text = "0"): number => Math.ceil(scalar(text) * 1000);
const mib = (text = "0"): number => Math.ceil(scalar(text) / MIB);
