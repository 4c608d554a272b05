import { type Lock, tryLock } from "../../instance/lock.ts";

/** Nodes of tests that run at once on one machine: each has two /24 above the addresses of all instances (100.64.0.0 to 100.126.255.255). */
const MAX_NODES = 128;

/** Addresses that no other test of this machine has until they are released. */
export interface PolicyAddresses {
  /** The machine and the node, in a /30. */
  readonly host: string;
  readonly node: string;
  /** The pods' gateway, in `podRange`. */
  readonly gateway: string;
  readonly podRange: string;
  /** Address of a pod, from number 1. */
  pod(number: number): string;
  release(): Promise<void>;
}

/** Claims addresses; those of a process that was killed are free again. */
export async function claimPolicyAddresses(): Promise<PolicyAddresses> {
  for (let number = 0; number < MAX_NODES; number++) {
    const lock = await tryLock(`policy-node-${number}`);
    if (lock !== undefined) return addressesAt(number, lock);
  }
  throw new Error(`${MAX_NODES} tests of network policies run on this machine: let one of them finish`);
}

function addressesAt(number: number, lock: Lock): PolicyAddresses {
  const [nodes, pods] = [`100.127.${2 * number}`, `100.127.${2 * number + 1}`];
  return {
    host: `${nodes}.1`,
    node: `${nodes}.2`,
    gateway: `${pods}.1`,
    podRange: `${pods}.0/24`,
    pod: (pod) => `${pods}.${pod + 1}`,
    release: () => lock.release(),
  };
}
