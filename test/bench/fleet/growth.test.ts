import { describe, expect, test } from "vitest";
import { sizeFor } from "../../../bench/fleet/limits.ts";
import { defaultSizes, sizesOf } from "../../../bench/fleet/options.ts";
import { room } from "../../../bench/fleet/room.ts";
import { nameOf, networkOf } from "../../../bench/fleet/spokes.ts";
import { fleetSizes } from "../../../components/fleet-size.ts";
import { overlaps, parseCidr } from "../../../lib/cidr.ts";

const MIB = 2 ** 20;

describe("the sizes of the fleet", () => {
  test("are those that are asked for", () => {
    expect(sizesOf("1,25,100", [2])).toEqual([1, 25, 100]);
    expect(sizesOf("100", [2])).toEqual([100]);
    expect(sizesOf(undefined, defaultSizes.commits)).toEqual([2, 500]);
  });

  test.each(["", "0,1", "5,5", "25,1", "1.5", "many", "1,1001"])("are refused when they are %j", (option) => {
    expect(() => sizesOf(option, [1])).toThrow(`got ${option}: give, say, --spokes 1,25,100`);
  });

  test("have the limits of the size of the stack that is meant for them, or of the largest", () => {
    expect(sizeFor(1)).toBe(fleetSizes.minimal);
    expect(sizeFor(100)).toBe(fleetSizes.medium);
    expect(sizeFor(1000)).toBe(fleetSizes.large);
  });
});

describe("a step of the fleet", () => {
  const last = { size: 100, memoryEach: 30 * MIB, cpuEach: 12 };

  test("is taken when what it needs leaves a fifth of the memory", () => {
    expect(room(last, 500, 15_000 * MIB, 2)).toEqual({
      fits: true,
      words: "500 spokes: 400 more at 30 MiB each take about 12000 MiB and at least 40 min; 15000 MiB are available",
    });
  });

  test("is not taken when it needs more, and says so in figures", () => {
    const { fits, words } = room(last, 500, 14_999 * MIB, 2);
    expect(fits).toBe(false);
    expect(words).toContain("take about 12000 MiB");
    expect(words).toContain("14999 MiB are available, of which a step may take 80 %");
  });
});

describe("the spokes", () => {
  const numbers = Array.from({ length: 1000 }, (_, index) => index + 1);

  test("are in the order of their numbers by name, too", () => {
    const names = numbers.map(nameOf);
    expect(names.toSorted()).toEqual(names);
  });

  test("name networks that don't overlap where the pool has no block for them", () => {
    const networks = numbers.flatMap((number) => networkOf(number) ?? []).map((network) => parseCidr(network));
    expect(networks).toHaveLength(800);
    for (const [index, network] of networks.entries()) {
      const next = networks[index + 1];
      if (network === undefined) throw new Error("not a network");
      if (next !== undefined) expect(overlaps(network, next)).toBe(false);
    }
    expect(networkOf(200)).toBeUndefined();
    expect(networkOf(201)).toBe("100.64.0.0/20");
    expect(networkOf(1000)).toBe("100.113.240.0/20");
  });
});
