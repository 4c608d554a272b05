import { type Environment, EvaluationError } from "@marcbachmann/cel-js";
import ipaddr from "ipaddr.js";

/** What Kubernetes adds to CEL for networks (Kubernetes documentation, "CEL in Kubernetes"), as far as rules use it. */

type Address = ipaddr.IPv4 | ipaddr.IPv6;

class Ip {
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }
}

/** A network as it is written: bits after the prefix are kept. */
class Cidr {
  readonly address: Address;
  /** Bits of the prefix. */
  readonly prefix: number;

  constructor(address: Address, prefix: number) {
    this.address = address;
    this.prefix = prefix;
  }

  equals(other: Cidr): boolean {
    return this.prefix === other.prefix && this.address.toString() === other.address.toString();
  }

  masked(): Cidr {
    const text = `${this.address.toString()}/${this.prefix}`;
    const isV4 = this.address.kind() === "ipv4";
    const network = isV4 ? ipaddr.IPv4.networkAddressFromCIDR(text) : ipaddr.IPv6.networkAddressFromCIDR(text);
    return new Cidr(network, this.prefix);
  }

  contains(inner: Cidr): boolean {
    const isOfFamily = this.address.kind() === inner.address.kind();
    return isOfFamily && inner.prefix >= this.prefix && inner.address.match(this.address, this.prefix);
  }
}

/** As Go's netip.ParsePrefix: four decimal numbers, or IPv6 without a zone and without an IPv4 address in it. */
function isCidr(text: string): boolean {
  if (!/\/(0|[1-9]\d*)$/.test(text)) return false;
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || (!/[.%]/.test(text) && ipaddr.IPv6.isValidCIDR(text));
}

function cidr(text: string): Cidr {
  if (!isCidr(text)) throw new EvaluationError({ code: "invalid_cidr", message: `${text} is not a network` });
  return new Cidr(...ipaddr.parseCIDR(text));
}

/** Registers isCIDR, cidr, the methods of networks and addresses, and the sum of their sizes. */
export const withNetworks = (environment: Environment): Environment =>
  environment
    .registerType("net.IP", Ip)
    .registerType("net.CIDR", Cidr)
    .registerOperator("net.CIDR == net.CIDR", (a: Cidr, b: Cidr) => a.equals(b))
    .registerFunction("isCIDR(string): bool", isCidr)
    .registerFunction("cidr(string): net.CIDR", cidr)
    .registerFunction("net.CIDR.ip(): net.IP", ({ address }: Cidr) => new Ip(address))
    .registerFunction("net.CIDR.prefixLength(): int", ({ prefix }: Cidr) => BigInt(prefix))
    .registerFunction("net.CIDR.masked(): net.CIDR", (network: Cidr) => network.masked())
    .registerFunction("net.CIDR.containsCIDR(string): bool", (outer: Cidr, inner: string) =>
      outer.contains(cidr(inner)),
    )
    .registerFunction("net.CIDR.containsCIDR(net.CIDR): bool", (outer: Cidr, inner: Cidr) => outer.contains(inner))
    .registerFunction("list<int>.sum(): int", (numbers: readonly bigint[]) =>
      numbers.reduce((sum, one) => sum + one, 0n),
    )
    .registerFunction("net.IP.family(): int", ({ address }: Ip) => (address.kind() === "ipv4" ? 4n : 6n));
