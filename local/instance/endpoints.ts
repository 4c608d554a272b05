import type { ClusterAddresses, Instance } from "./addresses.ts";
import { run } from "./command.ts";
import { tolerate } from "./network.ts";

/**
 * Who reaches the API server of a cluster at its endpoint. The API server itself listens on an internal address; packets to
 * the endpoint are translated to it, which is how those who come by the endpoint are known and filtered. What is not admitted
 * gets no answer at all, as from AWS.
 */
export interface EndpointAccess {
  /** Address of the endpoint. */
  readonly address: string;
  /** Blocks of addresses in the order in which they are asked; what is in none of them is not admitted. */
  readonly sources: readonly { readonly cidr: string; readonly admitted: boolean }[];
}

type Addresses = Pick<ClusterAddresses, "apiAddress" | "internalAddress">;

/** Gives a cluster its endpoint, which everybody reaches until {@link filterEndpoints} says who. Idempotent. */
export async function addEndpoint(instance: Instance, { apiAddress, internalAddress }: Addresses): Promise<void> {
  await run(["nft", "-f", "-"], {
    input: `${translation(instance)}add element inet ${instance.kernel.endpointTable} servers { ${apiAddress} : ${internalAddress} }\n`,
  });
}

/** Takes a cluster's endpoint away; nothing happens when it is gone. */
export async function removeEndpoint({ kernel }: Instance, { apiAddress }: Addresses): Promise<void> {
  const element = ["inet", kernel.endpointTable, "servers", `{ ${apiAddress} }`];
  await tolerate(/No such file or directory/, run(["nft", "delete", "element", ...element]));
}

/** Says who reaches which endpoint, for all of an instance at once; an endpoint that isn't named is open to everybody. */
export async function filterEndpoints(instance: Instance, endpoints: readonly EndpointAccess[]): Promise<void> {
  await run(["nft", "-f", "-"], { input: translation(instance) + filter(instance, endpoints) });
}

/** Input for `nft -f` that translates endpoints to servers; what is in the map stays. */
export function translation({ internalCidr, kernel }: Instance): string {
  const table = `inet ${kernel.endpointTable}`;
  return `add table ${table}
add map ${table} servers { type ipv4_addr : ipv4_addr ; }
add chain ${table} prerouting { type nat hook prerouting priority dstnat ; }
add chain ${table} output { type nat hook output priority -100 ; }
add chain ${table} internal { type filter hook input priority filter ; }
flush chain ${table} prerouting
flush chain ${table} output
flush chain ${table} internal
add rule ${table} prerouting dnat ip to ip daddr map @servers
add rule ${table} output dnat ip to ip daddr map @servers
add rule ${table} internal iifname "${kernel.linkPrefix}*" ct original ip daddr ${internalCidr} drop
`;
}

/** Input for `nft -f` that drops packets of those who are not admitted, in the place of an earlier version. */
export function filter({ kernel }: Instance, endpoints: readonly EndpointAccess[]): string {
  const chain = `inet ${kernel.endpointTable} access`;
  const rules = endpoints.flatMap(({ address, sources }) => {
    const rule = `add rule ${chain} ct original ip daddr ${address}`;
    return [
      ...sources.map(({ cidr, admitted }) => `${rule} ip saddr ${cidr} ${admitted ? "accept" : "drop"}`),
      `${rule} drop`,
    ];
  });
  const head = [`add chain ${chain} { type filter hook input priority filter ; }`, `flush chain ${chain}`];
  return `${[...head, ...rules].join("\n")}\n`;
}
