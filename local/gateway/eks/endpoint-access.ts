import { BlockList } from "node:net";
import type { EndpointAccess } from "../../instance/index.ts";
import type { Cluster } from "./model.ts";

/** What of a cluster and its VPC says who reaches it, and whom it reaches. */
export interface Reach {
  readonly access: Pick<
    Cluster["resourcesVpcConfig"],
    "endpointPublicAccess" | "endpointPrivateAccess" | "publicAccessCidrs"
  >;
  /** Address of the endpoint. */
  readonly address: string;
  /** Where packets of its nodes and pods come from. */
  readonly nodesCidr: string;
  /** Public addresses of the NAT gateways of its VPC: nodes come from there to the public endpoints of others. */
  readonly egress: readonly string[];
  /** Blocks from which its security groups admit the port of the API server. */
  readonly groupCidrs: readonly string[];
}

const EVERYBODY = "0.0.0.0/0";

/**
 * As whom AWS sees this machine, where people and Pulumi work: on the internet, and in a network that is connected to every VPC
 * (by VPN, say), from which it reaches what is private once a security group lets it in.
 */
export const MACHINE = { publicAddress: "1.2.3.4", connectedAddress: "10.255.0.1" } as const;

/**
 * Who reaches the endpoint of a cluster, as the EKS User Guide has it ("Cluster API server endpoint"): with private access, the
 * cluster's own VPC, and from connected networks whom its security groups admit; by the public endpoint, the addresses in
 * publicAccessCidrs, as which the nodes of a VPC count by the addresses of its NAT gateways. VPCs are not connected with each
 * other here: there is neither peering nor a transit gateway. Pure.
 */
export function endpointAccess(own: Reach, others: readonly Reach[]): EndpointAccess {
  const { endpointPublicAccess, endpointPrivateAccess, publicAccessCidrs = [] } = own.access;
  const publicCidrs = endpointPublicAccess === true ? publicAccessCidrs : [];
  const privateCidrs = endpointPrivateAccess === true ? own.groupCidrs : [];
  const machine =
    admitsAll(publicCidrs, [MACHINE.publicAddress]) || admitsAll(privateCidrs, [MACHINE.connectedAddress]);
  const nodes = ({ egress }: Reach) => admitsAll(publicCidrs, egress);
  return {
    address: own.address,
    sources: [
      { cidr: own.nodesCidr, admitted: endpointPrivateAccess === true || nodes(own) },
      ...others.map((other) => ({ cidr: other.nodesCidr, admitted: nodes(other) })),
      // Packets from this machine to one of its own addresses come from that address.
      { cidr: `${own.address}/32`, admitted: machine },
    ],
  };
}

function admitsAll(cidrs: readonly string[], addresses: readonly string[]): boolean {
  if (cidrs.includes(EVERYBODY)) return true;
  const blocks = new BlockList();
  for (const [address = "", prefix] of cidrs.map((cidr) => cidr.split("/"))) blocks.addSubnet(address, Number(prefix));
  return addresses.length > 0 && addresses.every((address) => blocks.check(address));
}
