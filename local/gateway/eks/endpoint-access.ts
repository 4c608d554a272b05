import type { EndpointAccess } from "../../instance/index.ts";
import { contains, networkOf } from "../../product.ts";
import type { HttpRequest } from "../aws/http.ts";
import type { PeeredRoute } from "../aws/peering.ts";
import type { Cluster } from "./model.ts";

/** The settings of a cluster and its VPC that decide who reaches its endpoint, and which endpoints its nodes reach. */
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
  readonly vpc: { readonly id: string; readonly cidrs: readonly string[] };
  /** Routes to other VPCs of each subnet with nodes, and of each with network interfaces of the control plane. */
  readonly routes: {
    readonly nodes: readonly (readonly PeeredRoute[])[];
    readonly controlPlane: readonly (readonly PeeredRoute[])[];
  };
}

const EVERYBODY = "0.0.0.0/0";

/**
 * This machine as AWS would see it: an address on the internet, and one in a network that is connected to every VPC (by VPN, say),
 * from which it reaches private endpoints once a security group lets it in.
 */
export const MACHINE = { publicAddress: "1.2.3.4", connectedAddress: "10.255.0.1" } as const;

/** Whether a call of EC2 may change who reaches the endpoints of clusters. */
export const changesReach = ({ body }: Pick<HttpRequest, "body">): boolean =>
  /(^|&)Action=(?!Describe)\w+(SecurityGroup|NatGateway|Route|VpcPeeringConnection)/.test(body.toString("latin1"));

/**
 * Who reaches the endpoint of a cluster, as the EKS User Guide has it ("Cluster API server endpoint"): with private access, the
 * cluster's own VPC, and from connected networks whom its security groups admit; by the public endpoint, the addresses in
 * publicAccessCidrs, as which the nodes of a VPC count by the addresses of its NAT gateways. While there is a public endpoint,
 * public DNS gives its addresses to everybody outside of the VPC, so that nobody else comes by the private one.
 */
export function endpointAccess(own: Reach, others: readonly Reach[]): EndpointAccess {
  const { endpointPublicAccess, endpointPrivateAccess, publicAccessCidrs = [] } = own.access;
  const publicCidrs = endpointPublicAccess === true ? publicAccessCidrs : [];
  const privateCidrs = endpointPublicAccess !== true && endpointPrivateAccess === true ? own.groupCidrs : [];
  const machine =
    admitsAll(publicCidrs, [MACHINE.publicAddress]) || admitsAll(privateCidrs, [MACHINE.connectedAddress]);
  const nodes = ({ egress }: Reach) => admitsAll(publicCidrs, egress);
  // Inside of the VPC the name leads to the private endpoint, also while there is a public one.
  const reached = (other: Reach) =>
    other.vpc.id === own.vpc.id && endpointPrivateAccess === true
      ? holds(own.groupCidrs, other.vpc)
      : nodes(other) || (connected(other, own) && holds(privateCidrs, other.vpc));
  return {
    address: own.address,
    sources: [
      { cidr: own.nodesCidr, admitted: endpointPrivateAccess === true || nodes(own) },
      ...others.map((other) => ({ cidr: other.nodesCidr, admitted: reached(other) })),
      // Packets from this machine to one of its own addresses come from that address.
      { cidr: `${own.address}/32`, admitted: machine },
    ],
  };
}

function admitsAll(cidrs: readonly string[], addresses: readonly string[]): boolean {
  if (cidrs.includes(EVERYBODY)) return true;
  return addresses.length > 0 && addresses.every((address) => within(`${address}/32`, cidrs));
}

/** Whether packets get from the nodes of one cluster to the control plane of another, and its answers back. */
function connected(from: Reach, to: Reach): boolean {
  return routed(from.routes.nodes, to.vpc) && routed(to.routes.controlPlane, from.vpc);
}

/** Whether every subnet has a way to all of a VPC. */
function routed(subnets: readonly (readonly PeeredRoute[])[], vpc: Reach["vpc"]): boolean {
  const leads = (routes: readonly PeeredRoute[]) =>
    holds(
      routes.filter(({ vpcId }) => vpcId === vpc.id).map(({ cidr }) => cidr),
      vpc,
    );
  return subnets.length > 0 && subnets.every(leads);
}

/** Whether all of a VPC is in these blocks. */
function holds(cidrs: readonly string[], vpc: Reach["vpc"]): boolean {
  return vpc.cidrs.length > 0 && vpc.cidrs.every((cidr) => within(cidr, cidrs));
}

function within(inner: string, outers: readonly string[]): boolean {
  const block = networkOf(inner);
  return outers.some((text) => {
    const outer = networkOf(text);
    return block !== undefined && outer !== undefined && contains(outer, block);
  });
}
