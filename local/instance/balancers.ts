import { stat } from "node:fs/promises";
import type { Instance } from "./addresses.ts";
import { run } from "./command.ts";
import { namespaces } from "./leftovers.ts";
import { addAddress, removeAddress } from "./network.ts";

/** An interface of a load balancer: where it listens on this machine, and its address in the VPC. */
export interface BalancerInterface {
  /** In the instance's `balancers.publicCidr`. */
  readonly publicAddress: string;
  /** In a subnet of the VPC. */
  readonly privateAddress: string;
}

const TABLE = "fleet_balancers";

/** The address from which an interface reaches targets, before a node translates it: that of `sourceCidr` with the same end. */
export function sourceOf({ balancers }: Pick<Instance, "balancers">, publicAddress: string): string {
  const end = publicAddress.slice(publicAddress.lastIndexOf("."));
  return `${balancers.sourceCidr.replace(/\.0\/24$/, "")}${end}`;
}

/**
 * Input for `nft -f` in a node's network namespace: what comes from a load balancer has its address in the VPC before NetworkPolicies judge
 * it, and answers find back. Conntrack sees the VPC's address alone, so the first is before it and the second after it.
 */
export function nodeTranslation(
  instance: Pick<Instance, "balancers">,
  interfaces: readonly BalancerInterface[],
): string {
  const pairs = interfaces.map((each) => [sourceOf(instance, each.publicAddress), each.privateAddress] as const);
  const from = pairs.map(([source, address]) => `    iifname "eth0" ip saddr ${source} ip saddr set ${address}`);
  const to = pairs.map(
    ([source, address]) => `    oifname "eth0" ct direction reply ip daddr ${address} ip daddr set ${source}`,
  );
  return `table ip ${TABLE}
delete table ip ${TABLE}
table ip ${TABLE} {
  chain from {
    type filter hook prerouting priority raw; policy accept;
${from.join("\n")}
  }
  chain to {
    type filter hook postrouting priority 300; policy accept;
${to.join("\n")}
  }
}
`;
}

/** Gives this machine the addresses of load balancers, and takes away those that are no longer theirs. @param before those that it has */
export async function keepBalancerAddresses(
  instance: Instance,
  interfaces: readonly BalancerInterface[],
  before: readonly BalancerInterface[],
): Promise<void> {
  const wanted = new Set(interfaces.map(({ publicAddress }) => publicAddress));
  for (const { publicAddress } of before) {
    if (wanted.has(publicAddress)) continue;
    await removeAddress(publicAddress);
    await removeAddress(sourceOf(instance, publicAddress));
  }
  const present = new Set(before.map(({ publicAddress }) => publicAddress));
  for (const publicAddress of wanted) {
    if (present.has(publicAddress)) continue;
    await addAddress(publicAddress);
    await addAddress(sourceOf(instance, publicAddress));
  }
}

/** Has every node of the instance translate; a node that has the rules already is left alone. @param inForce the rules by node, kept over calls */
export async function translateOnNodes(
  instance: Instance,
  interfaces: readonly BalancerInterface[],
  inForce: Map<string, string>,
): Promise<void> {
  const rules = nodeTranslation(instance, interfaces);
  for (const name of await namespaces(instance)) {
    const path = `/run/netns/${name}`;
    // A node that was replaced has the name of the one before it.
    const node = `${name} ${(await stat(path)).ino}`;
    if (inForce.get(node) === rules) continue;
    await run(["nsenter", `--net=${path}`, "--", "nft", "-f", "-"], { input: rules });
    inForce.set(node, rules);
  }
}
