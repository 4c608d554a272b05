import type { Instance } from "./addresses.ts";
import { CommandError, run } from "./command.ts";

/** Adds an address to `lo`; nothing happens when it is there. */
export async function addAddress(address: string): Promise<void> {
  await run(["ip", "address", "replace", `${address}/32`, "dev", "lo"]);
}

/** Removes an address from `lo`; nothing happens when it is gone. */
export async function removeAddress(address: string): Promise<void> {
  await tolerate(
    /Cannot assign requested address|Address not found/,
    run(["ip", "address", "del", `${address}/32`, "dev", "lo"]),
  );
}

/** Waits for a command and accepts its failure when its error output matches: the state that it was to reach is there. */
export async function tolerate(expected: RegExp, command: Promise<unknown>): Promise<void> {
  try {
    await command;
  } catch (error) {
    if (!(error instanceof CommandError && expected.test(error.stderr))) throw error;
  }
}

/**
 * Lets packets go between nodes, and keeps every pod inside its instance: what comes from a node may go to
 * the instance's own range and nowhere else, so no chart or controller can reach the internet (or the real AWS). Packets of other hosts for
 * addresses of the instance are dropped: Linux would accept them on any link.
 */
export async function isolate(instance: Instance): Promise<void> {
  await run(["nft", "-f", "-"], { input: ruleset(instance) });
  await acceptForwarding(instance);
}

/** The nftables rules of an instance, as input for `nft -f`: they replace an earlier version in one step. */
export function ruleset({ cidr, kernel }: Instance): string {
  const node = `"${kernel.linkPrefix}*"`;
  return `table inet ${kernel.nftTable}
delete table inet ${kernel.nftTable}
table inet ${kernel.nftTable} {
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname ${node} oifname ${node} accept
    iifname ${node} counter reject with icmpx type admin-prohibited
    oifname ${node} counter reject with icmpx type admin-prohibited
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname ${node} ip daddr ${cidr} accept
    iifname ${node} counter reject with icmpx type admin-prohibited
    iifname != "lo" ip daddr ${cidr} drop
  }
}
`;
}

/** Removes the packet filters of an instance; nothing happens when they are gone. */
export async function removeFilter({ kernel }: Instance): Promise<void> {
  for (const table of [kernel.nftTable, kernel.endpointTable])
    await tolerate(/No such file or directory/, run(["nft", "delete", "table", "inet", table]));
  for (const rule of await ownForwardRules(kernel))
    await run(["iptables", "-D", ...rule.slice("-A ".length).split(" ")]);
}

/**
 * Docker sets the machine's policy for forwarding to drop, which also is between the nodes of a cluster. An accepted
 * packet still has to pass the instance's own rules.
 */
async function acceptForwarding({ kernel }: Instance): Promise<void> {
  const rules = await forwardRules();
  if (!rules.includes("-P FORWARD DROP")) return;
  const links = `${kernel.linkPrefix}+`;
  if (rules.some((rule) => rule.includes(` ${links} `))) return;
  await run(["iptables", "-I", "FORWARD", "-i", links, "-o", links, "-j", "ACCEPT"]);
}

/** The rules in iptables' chain FORWARD that name the links of an instance. */
export async function ownForwardRules(kernel: Instance["kernel"]): Promise<string[]> {
  return (await forwardRules()).filter((rule) => rule.includes(` ${kernel.linkPrefix}+ `));
}

/** Policy and rules of iptables' chain FORWARD; none on a machine without iptables. */
async function forwardRules(): Promise<string[]> {
  try {
    return (await run(["iptables", "-S", "FORWARD"])).split("\n");
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === undefined) return [];
    throw error;
  }
}
