import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blocksOf, normalBlock, permissionOf, type RuleBlock } from "../../../aws/ec2/permissions.ts";
import { sameRules } from "../../../aws/ec2/security-group.ts";
import { type Handler, handlers } from "../../../aws/index.ts";

const group = "sg-0";
const port = fc.integer({ min: 1, max: 65535 });
const block: fc.Arbitrary<RuleBlock> = fc
  .record({
    protocol: fc.constantFrom("tcp", "udp", "-1", "6"),
    fromPort: port,
    toPort: port,
    description: fc.constantFrom("", "one"),
    self: fc.boolean(),
    cidrBlocks: fc.uniqueArray(fc.constantFrom("10.0.0.0/8", "192.168.0.0/16")),
    ipv6CidrBlocks: fc.uniqueArray(fc.constantFrom("fd00::/8")),
    prefixListIds: fc.uniqueArray(fc.constantFrom("pl-1")),
    securityGroups: fc.uniqueArray(fc.constantFrom("sg-1", "sg-2")),
  })
  .filter(
    (b) =>
      b.self || [b.cidrBlocks, b.ipv6CidrBlocks, b.prefixListIds, b.securityGroups].some((list) => list.length > 0),
  );

test("a rule survives the way to the API and back", () => {
  fc.assert(
    fc.property(block, (given) => {
      expect(blocksOf([permissionOf(given, group)], group).map(normalBlock)).toEqual([normalBlock(given)]);
    }),
  );
});

test("rules mean the same in any order and with unset lists left out", () => {
  const https = { protocol: "tcp", fromPort: 443, toPort: 443, cidrBlocks: ["10.0.0.0/8", "172.16.0.0/12"] };
  const all = { protocol: "-1", fromPort: 0, toPort: 65535, self: true };
  expect(
    sameRules(
      [https, all],
      [
        { ...all, fromPort: 1, self: true, cidrBlocks: [] },
        { ...https, cidrBlocks: [...https.cidrBlocks].reverse() },
      ],
    ),
  ).toBe(true);
  expect(sameRules([https], [{ ...https, toPort: 444 }])).toBe(false);
});

describe("import ids", () => {
  const rule = handlers.get("aws:ec2/securityGroupRule:SecurityGroupRule") as Handler;
  test("of a security group rule name its sources", async () => {
    const found = await rule.importId?.({} as never, "sg-1_ingress_tcp_443_444_10.0.0.0/8_fd00::/8_self");
    expect(found?.properties).toEqual({
      ...{ securityGroupId: "sg-1", type: "ingress", protocol: "tcp", fromPort: 443, toPort: 444, self: true },
      cidrBlocks: ["10.0.0.0/8"],
      ipv6CidrBlocks: ["fd00::/8"],
    });
  });

  test("of a route give the id that a creation gives", async () => {
    const route = handlers.get("aws:ec2/route:Route") as Handler;
    await expect(route.importId?.({} as never, "rtb-1_0.0.0.0/0")).resolves.toEqual({
      // Terraform's id: crc32 of the destination, as in its documentation (r-rtb-656C65616E6F721080289494).
      id: "r-rtb-11080289494",
      properties: { routeTableId: "rtb-1", destinationCidrBlock: "0.0.0.0/0" },
    });
  });
});
