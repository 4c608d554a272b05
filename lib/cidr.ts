/** IPv4 CIDR arithmetic: pure, on numbers, without a dependency. */

/** A block of IPv4 addresses: the first address as an unsigned 32-bit number, and the prefix length. */
export interface Cidr {
  readonly base: number;
  readonly prefix: number;
}

const octet = /^(0|[1-9]\d{0,2})$/;

/** Parses dotted-quad `text`; undefined when it is not an IPv4 address (leading zeros are refused: their meaning differs between tools). */
function parseAddress(text: string): number | undefined {
  const octets = text.split(".");
  if (octets.length !== 4 || !octets.every((part) => octet.test(part) && Number(part) <= 255)) return undefined;
  return octets.reduce((value, part) => value * 256 + Number(part), 0);
}

/** Number of addresses in the block. */
export function size(cidr: Cidr): number {
  return 2 ** (32 - cidr.prefix);
}

/** The network that `a.b.c.d/n` is in, as EC2 reads it: bits behind the prefix are dropped. Undefined when it is not a CIDR block. */
export function networkOf(text: string): Cidr | undefined {
  const [address = "", length = "", ...rest] = text.split("/");
  const base = parseAddress(address);
  if (rest.length > 0 || base === undefined || !/^(\d|[12]\d|3[0-2])$/.test(length)) return undefined;
  const cidr = { base, prefix: Number(length) };
  return { ...cidr, base: base - (base % size(cidr)) };
}

/** Parses `a.b.c.d/n`; undefined when it is not a CIDR block or has bits set after the prefix. */
export function parseCidr(text: string): Cidr | undefined {
  const network = networkOf(text);
  return network?.base === parseAddress(text.split("/")[0] ?? "") ? network : undefined;
}

export function formatCidr({ base, prefix }: Cidr): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256);
  return `${octets.join(".")}/${prefix}`;
}

/** Whether the two blocks share an address. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return a.base < b.base + size(b) && b.base < a.base + size(a);
}

/** Whether every address of `inner` is in `outer`. */
export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.base <= inner.base && inner.base + size(inner) <= outer.base + size(outer);
}

/** Private blocks (RFC 1918) and the shared address space (RFC 6598), as the Spoke API has them too. */
export const privateBlocks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"] as const;

// Parsed once: policies and the function ask for every block that they read.
const privateNetworks = privateBlocks.map((block) => networkOf(block) as Cidr);

export const isPrivate = (cidr: Cidr): boolean => privateNetworks.some((network) => contains(network, cidr));

/**
 * What blocks are reserved for. EKS refuses reserved addresses in publicAccessCidrs: "The block cannot include reserved addresses" (EKS
 * User Guide, "Configure network access to cluster API server endpoint"). It gives no list; 10.1.0.128/27, 198.51.100.10/32 and
 * 203.0.113.0/24 were seen refused, with "The following CIDRs are not allowed in publicAccessCidrs". The list is our choice, by the IANA
 * IPv4 Special-Purpose Address Registry: without its AS112 and AMT blocks, which the internet reaches, and with class D.
 */
export const reservedBlocks = {
  "0.0.0.0/8": "this network (RFC 791)",
  "10.0.0.0/8": "private networks (RFC 1918)",
  "100.64.0.0/10": "shared address space (RFC 6598)",
  "127.0.0.0/8": "loopback (RFC 1122)",
  "169.254.0.0/16": "link-local addresses (RFC 3927)",
  "172.16.0.0/12": "private networks (RFC 1918)",
  "192.0.0.0/24": "protocol assignments (RFC 6890)",
  "192.0.2.0/24": "documentation (RFC 5737)",
  "192.88.99.0/24": "6to4 relays (RFC 7526)",
  "192.168.0.0/16": "private networks (RFC 1918)",
  "198.18.0.0/15": "benchmarks (RFC 2544)",
  "198.51.100.0/24": "documentation (RFC 5737)",
  "203.0.113.0/24": "documentation (RFC 5737)",
  "224.0.0.0/4": "multicast (RFC 5771)",
  "240.0.0.0/4": "future use (RFC 1112)",
} as const;

const reservedNetworks = Object.entries(reservedBlocks).map(([block, purpose]) => ({
  network: networkOf(block) as Cidr,
  purpose,
}));

/** What the block, or a part of it, is reserved for; undefined when EKS takes it. 0.0.0.0/0 is EKS's default. */
export function reservedFor(cidr: Cidr): string | undefined {
  if (cidr.prefix === 0) return undefined;
  return reservedNetworks.find(({ network }) => overlaps(network, cidr))?.purpose;
}

/** What is wrong with a block that a public endpoint is to admit, when EKS refuses it. */
export function reservedProblem(cidr: Cidr): string | undefined {
  const purpose = reservedFor(cidr);
  return purpose && `names addresses that EKS refuses on a public endpoint, reserved for ${purpose}`;
}

/** Most public addresses that a public endpoint may admit, in all its blocks together: a /8. The Spoke API has the same number. */
export const maxPublicAddresses = 2 ** 24;

/** Number of public addresses that the blocks cover together. What several of them cover counts once; a private block is none. */
export function publicAddresses(cidrs: readonly Cidr[]): number {
  // Of two blocks that overlap one contains the other.
  const outermost = cidrs.filter(
    (cidr, index) =>
      !cidrs.some((other, place) => contains(other, cidr) && (other.prefix < cidr.prefix || place < index)),
  );
  return outermost.filter((cidr) => !isPrivate(cidr)).reduce((sum, cidr) => sum + size(cidr), 0);
}

/** The blocks in which EKS accepts Services, and the prefix lengths (EKS API Reference, KubernetesNetworkConfigRequest); the Spoke API has the same. */
export const serviceBlocks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"] as const;
export const servicePrefixes = { min: 12, max: 24 } as const;

/** Whether EKS accepts the block for the addresses of Services in some VPC. */
export const isServiceBlock = (cidr: Cidr): boolean =>
  cidr.prefix >= servicePrefixes.min &&
  cidr.prefix <= servicePrefixes.max &&
  serviceBlocks.some((block) => contains(networkOf(block) as Cidr, cidr));

/**
 * The `index`-th of the `2 ** bits` equal parts of `cidr`.
 * @throws RangeError when there is no such part.
 */
export function part(cidr: Cidr, bits: number, index: number): Cidr {
  const prefix = cidr.prefix + bits;
  if (prefix > 32 || index < 0 || index >= 2 ** bits) {
    throw new RangeError(`no part ${index} of ${2 ** bits} in ${formatCidr(cidr)}`);
  }
  return { base: cidr.base + index * 2 ** (32 - prefix), prefix };
}

/** The subnets of one zone. */
export interface ZoneSubnets {
  readonly privateCidr: string;
  readonly publicCidr: string;
}

/** Zones that {@link zoneSubnets} has room for. */
export const maxZones = 3;

/** Subnet of zone `zone` (from 0) for the pods of a cluster, of the block that is theirs: a quarter of it. */
export const podSubnet = (block: Cidr, zone: number): string => formatCidr(part(block, 2, zone));

/** Prefix lengths of a VPC that {@link zoneSubnets} can divide into subnets that EC2 accepts (/16 to /28). */
export const vpcPrefixes = { min: 16, max: 24 } as const;

/**
 * Subnets of zone `zone` (from 0) in a VPC: a quarter of the VPC is private (nodes and pods), a sixteenth public.
 * Zones keep their subnets when one is added; a sixteenth of the VPC stays free.
 */
export function zoneSubnets(vpc: Cidr, zone: number): ZoneSubnets {
  const publicQuarter = part(vpc, 2, maxZones);
  return { privateCidr: formatCidr(part(vpc, 2, zone)), publicCidr: formatCidr(part(publicQuarter, 2, zone)) };
}
