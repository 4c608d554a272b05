/** Width of CIDR blocks, for both IP versions. */
import { networkOf, publicAddresses, reservedFor } from "../../lib/cidr.ts";
import { integer } from "./rule.ts";

/** Parameters that say how wide a block may be. */
export const widths = {
  minimumPrefixLength: integer(
    "Shortest prefix of an IPv4 block; a shorter one is a wider network. All blocks together admit no more public addresses.",
    8,
    1,
  ),
  minimumPrefixLengthIpv6: integer("Shortest prefix of an IPv6 block.", 32, 1),
};

interface Limits {
  readonly minimumPrefixLength: number;
  readonly minimumPrefixLengthIpv6: number;
}

/** Why a block is too wide, undefined when it is not. */
export function tooWide(cidr: string, limits: Limits): string | undefined {
  const minimum = cidr.includes(":") ? limits.minimumPrefixLengthIpv6 : limits.minimumPrefixLength;
  const prefix = /^[0-9a-fA-F.:]+\/(\d{1,3})$/.exec(cidr)?.[1];
  if (prefix === undefined) return `${JSON.stringify(cidr)} is not a CIDR block`;
  if (Number(prefix) >= minimum) return undefined;
  return Number(prefix) === 0 ? `${cidr} is the whole internet` : `${cidr} is wider than /${minimum}`;
}

/** Why EKS refuses a block on a public endpoint; undefined if it accepts it. IPv4 only. */
export function reserved(cidr: string): string | undefined {
  const network = networkOf(cidr);
  const purpose = network && reservedFor(network);
  return purpose && `${cidr} is reserved for ${purpose}`;
}

/**
 * Why blocks that are each narrow enough admit too much together, undefined when they do not. IPv4 only: as many blocks as AWS
 * takes, each of the width allowed, are next to nothing of IPv6.
 */
export function tooMany(cidrs: readonly string[], { minimumPrefixLength }: Limits): string | undefined {
  const admitted = publicAddresses(cidrs.flatMap((cidr) => networkOf(cidr) ?? []));
  if (admitted <= 2 ** (32 - minimumPrefixLength)) return undefined;
  return `${cidrs.join(", ")} are ${admitted} public addresses together, more than a /${minimumPrefixLength}`;
}
