/** Prefix lengths of CIDR blocks, for both IP versions. */
import { integer } from "./rule.ts";

/** Parameters that say how wide a block may be. */
export const widths = {
  minimumPrefixLength: integer("Shortest prefix of an IPv4 block; a shorter one is a wider network.", 8, 1),
  minimumPrefixLengthIpv6: integer("Shortest prefix of an IPv6 block.", 32, 1),
};

/** Why a block is too wide, undefined when it is not. */
export function tooWide(
  cidr: string,
  limits: { readonly minimumPrefixLength: number; readonly minimumPrefixLengthIpv6: number },
): string | undefined {
  const minimum = cidr.includes(":") ? limits.minimumPrefixLengthIpv6 : limits.minimumPrefixLength;
  const prefix = /^[0-9a-fA-F.:]+\/(\d{1,3})$/.exec(cidr)?.[1];
  if (prefix === undefined) return `${JSON.stringify(cidr)} is no CIDR block`;
  if (Number(prefix) >= minimum) return undefined;
  return Number(prefix) === 0 ? `${cidr} is the whole internet` : `${cidr} is wider than /${minimum}`;
}
