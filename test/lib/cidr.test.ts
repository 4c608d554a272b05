import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Cidr,
  contains,
  formatCidr,
  isPrivate,
  maxPublicAddresses,
  maxZones,
  networkOf,
  overlaps,
  parseCidr,
  part,
  privateBlocks,
  publicAddresses,
  reservedFor,
  size,
  vpcPrefixes,
  zoneSubnets,
} from "../../lib/cidr.ts";
import { besideReserved, beyondLimit, refused, withinLimit, withPrivate } from "../support/public-networks.ts";

const cidrs = (min: number, max: number): fc.Arbitrary<Cidr> =>
  fc
    .tuple(fc.integer({ min, max }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))
    .map(([prefix, at]) => {
      const size = 2 ** (32 - prefix);
      return { base: Math.floor((at * 2 ** 32) / size) * size, prefix };
    });

const given = (text: string): Cidr => {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error(`not a CIDR: ${text}`);
  return cidr;
};

describe("parseCidr", () => {
  it("reads back every block that formatCidr writes", () => {
    fc.assert(
      fc.property(cidrs(0, 32), (cidr) => {
        expect(parseCidr(formatCidr(cidr))).toEqual(cidr);
      }),
    );
  });

  it.each([
    ...["10.0.0.1/16", "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "256.0.0.0/8", "10.0.0.00/8"],
    ...["010.0.0.0/8", "10.0.0.0/16/1", "::/0", "10.0.0.0/-1", ""],
  ])("refuses %j", (text) => expect(parseCidr(text)).toBeUndefined());
});

describe("overlaps and contains", () => {
  it("a block contains and overlaps each of its parts, which do not overlap each other", () => {
    fc.assert(
      fc.property(cidrs(0, 28), fc.integer({ min: 1, max: 4 }), (cidr, bits) => {
        const parts = Array.from({ length: 2 ** bits }, (_, index) => part(cidr, bits, index));
        expect(parts.every((inner) => contains(cidr, inner) && overlaps(inner, cidr) && !contains(inner, cidr))).toBe(
          true,
        );
        expect(parts.flatMap((a, i) => parts.slice(i + 1).filter((b) => overlaps(a, b)))).toEqual([]);
      }),
    );
  });

  it("two blocks overlap when one contains the other, and only then", () => {
    fc.assert(fc.property(cidrs(0, 32), cidrs(0, 32), (a, b) => overlaps(a, b) === (contains(a, b) || contains(b, a))));
  });

  it("refuses a part that is not there", () => {
    expect(() => part(given("10.0.0.0/30"), 3, 0)).toThrow("no part 0 of 8 in 10.0.0.0/30");
    expect(() => part(given("10.0.0.0/24"), 1, 2)).toThrow(RangeError);
  });
});

describe("networkOf", () => {
  it("drops the bits behind the prefix, as EC2 does", () => {
    expect(networkOf("100.68.0.18/18")).toEqual(parseCidr("100.68.0.0/18"));
    expect(networkOf("203.0.113.7/32")).toEqual(parseCidr("203.0.113.7/32"));
    expect(networkOf("10.0.0.0/33")).toBeUndefined();
  });
});

describe("reservedFor", () => {
  it("names what EKS refuses, in whole or in part, and not its neighbours or EKS's default", () => {
    expect(refused.filter((text) => reservedFor(given(text)) === undefined)).toEqual([]);
    expect([...besideReserved, "0.0.0.0/0"].filter((text) => reservedFor(given(text)) !== undefined)).toEqual([]);
    expect(reservedFor(given("203.0.113.7/32"))).toBe("documentation (RFC 5737)");
  });

  it("covers all that is private", () => {
    expect(privateBlocks.filter((block) => reservedFor(given(block)) === undefined)).toEqual([]);
  });
});

describe("publicAddresses", () => {
  it.each([...withinLimit, ...beyondLimit, ...withPrivate])("counts $title", ({ cidrs, addresses }) => {
    expect(publicAddresses(cidrs.map(given))).toBe(addresses);
    expect(publicAddresses([...cidrs, ...cidrs].reverse().map(given)), "twice, the other way round").toBe(addresses);
  });

  it("has its limit between what is and what is not allowed", () => {
    expect(Math.max(...withinLimit.map(({ addresses }) => addresses))).toBe(maxPublicAddresses);
    expect(Math.min(...beyondLimit.map(({ addresses }) => addresses))).toBe(maxPublicAddresses + 1);
  });

  it("never counts more than all blocks have, nor less than the widest public one", () => {
    fc.assert(
      fc.property(fc.array(cidrs(0, 32), { maxLength: 8 }), (blocks) => {
        const sizes = blocks.filter((block) => !isPrivate(block)).map(size);
        const counted = publicAddresses(blocks);
        expect(counted).toBeLessThanOrEqual(
          Math.min(
            2 ** 32,
            sizes.reduce((sum, one) => sum + one, 0),
          ),
        );
        expect(counted).toBeGreaterThanOrEqual(Math.max(0, ...sizes));
      }),
    );
  });
});

describe("zoneSubnets", () => {
  it("gives every zone its own private and public subnet inside the VPC, of sizes that EC2 accepts", () => {
    fc.assert(
      fc.property(cidrs(vpcPrefixes.min, vpcPrefixes.max), (vpc) => {
        const all = Array.from({ length: maxZones }, (_, zone) => zoneSubnets(vpc, zone)).flatMap(
          ({ privateCidr, publicCidr }) => [given(privateCidr), given(publicCidr)],
        );
        expect(all.every((subnet) => contains(vpc, subnet) && subnet.prefix >= 16 && subnet.prefix <= 28)).toBe(true);
        expect(all.flatMap((a, i) => all.slice(i + 1).filter((b) => overlaps(a, b)))).toEqual([]);
      }),
    );
  });

  it("divides a /16 as documented", () => {
    expect([0, 1, 2].map((zone) => zoneSubnets(given("10.0.0.0/16"), zone))).toEqual([
      { privateCidr: "10.0.0.0/18", publicCidr: "10.0.192.0/20" },
      { privateCidr: "10.0.64.0/18", publicCidr: "10.0.208.0/20" },
      { privateCidr: "10.0.128.0/18", publicCidr: "10.0.224.0/20" },
    ]);
  });
});
