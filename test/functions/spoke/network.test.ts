import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseNetwork, claimKey } from "../../../functions/spoke/network-choice.ts";
import { Observed } from "../../../functions/spoke/observed.ts";
import { freeBlock } from "../../../functions/spoke/pool.ts";
import { type Cidr, contains, formatCidr, overlaps, parseCidr, part } from "../../../lib/cidr.ts";
import { poolPrefix } from "../../../lib/spoke.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { World } from "./support/world.ts";

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`${text} is not a CIDR`);
  return parsed;
};
const arbitraryPool = fc
  .record({ prefix: fc.integer({ min: 8, max: 18 }), seed: fc.nat(0xff) })
  .map(({ prefix, seed }) => ({
    base: Math.floor((seed * 2 ** 24) / 2 ** (32 - prefix)) * 2 ** (32 - prefix),
    prefix,
  }));
const arbitraryBlock = (pool: Cidr) =>
  fc
    .record({ prefix: fc.integer({ min: Math.max(pool.prefix, 14), max: 24 }), place: fc.nat() })
    .map(({ prefix, place }) => part(pool, prefix - pool.prefix, place % 2 ** (prefix - pool.prefix)));
const arbitraryName = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/);

describe("freeBlock", () => {
  it("gives a block of the pool that shares no address with what is taken, whenever there is one", () => {
    fc.assert(
      fc.property(
        arbitraryPool.chain((pool) =>
          fc.tuple(fc.constant(pool), fc.array(arbitraryBlock(pool), { maxLength: 40 }), arbitraryName),
        ),
        ([pool, taken, name]) => {
          const block = freeBlock(pool, taken, name);
          const blocks = Array.from({ length: 2 ** (poolPrefix - pool.prefix) }, (_, index) =>
            part(pool, poolPrefix - pool.prefix, index),
          );
          const free = blocks.filter((each) => !taken.some((other) => overlaps(each, other)));
          if (block === undefined) return free.length === 0;
          return block.prefix === poolPrefix && contains(pool, block) && free.some(({ base }) => base === block.base);
        },
      ),
    );
  });

  it("depends on what is taken, not on the order in which it is listed", () => {
    fc.assert(
      fc.property(
        arbitraryPool.chain((pool) => fc.tuple(fc.constant(pool), fc.array(arbitraryBlock(pool)), arbitraryName)),
        ([pool, taken, name]) => {
          expect(freeBlock(pool, [...taken].reverse(), name)).toEqual(freeBlock(pool, taken, name));
        },
      ),
    );
  });

  it("gives nothing from a pool that is smaller than a block", () => {
    expect(freeBlock(cidr("10.0.0.0/20"), [], "blue")).toBeUndefined();
  });

  it("fills a pool to the last block", () => {
    const taken: Cidr[] = [];
    for (let count = 0; count < 16; count += 1) {
      const block = freeBlock(cidr("10.64.0.0/14"), taken, "blue");
      if (!block) throw new Error(`only ${count} blocks`);
      taken.push(block);
    }
    expect(new Set(taken.map(formatCidr)).size).toBe(16);
    expect(freeBlock(cidr("10.64.0.0/14"), taken, "blue")).toBeUndefined();
  });
});

const nothing = new Observed(new Map());
const ask = (asking = spoke(), others = [spoke()].slice(1), observed = nothing) =>
  chooseNetwork({ spoke: asking, observed, hub, others });
const recorded = (name: string, network: string, change: Record<string, unknown> = {}) => ({
  ...spoke(change, name),
  status: { network: { cidr: network } },
});

describe("a network from the pool", () => {
  it("is claimed and recorded first, and made when the claim is the Spoke's own", () => {
    const choice = ask();
    expect(choice).toMatchObject({ accepted: false, claim: claimKey(choice.cidr ?? "") });
    const wish = recorded("blue", choice.cidr ?? "");
    expect(ask(wish)).toEqual(choice);
    const own = new Observed(
      new Map([[choice.claim ?? "", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }]]),
    );
    expect(ask(wish, [], own)).toEqual({ ...choice, accepted: true });
  });

  it("is another one when somebody else recorded the same and the claim is not the Spoke's own", () => {
    const { cidr: wanted = "" } = ask();
    const second = ask(recorded("blue", wanted), [recorded("red", wanted)]);
    expect(second.accepted).toBe(false);
    expect(overlaps(cidr(second.cidr ?? ""), cidr(wanted))).toBe(false);
  });

  it("gives way to a network that another Spoke names itself", () => {
    const { cidr: wanted = "", claim = "" } = ask();
    const own = new Observed(new Map([[claim, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: claim } }]]));
    const other = spoke({ network: { cidr: wanted, zones: 2, natGateways: "single" } }, "red");
    const choice = ask(recorded("blue", wanted), [other], own);
    expect(choice.accepted).toBe(false);
    expect(choice.cidr).not.toBe(wanted);
  });

  it("stays once the VPC is made, whatever others say", () => {
    const world = new World(spoke());
    world.settle();
    const { cidr: made = "" } = world.spoke.status?.network ?? {};
    world.removed.length = 0;
    world.others = [recorded("red", made)];
    world.spoke = { ...world.spoke, status: {} };
    expect(world.settle()).toMatchObject({ ready: true, status: { network: { cidr: made } } });
    expect(world.removed).toEqual([]);
  });

  it("is refused with advice when the pool is full", () => {
    const choice = chooseNetwork({
      spoke: spoke(),
      observed: nothing,
      hub: { ...hub, spokeCidrPool: "10.0.0.0/16" },
      others: [],
    });
    expect(choice).toMatchObject({ accepted: false, problem: { reason: "PoolExhausted" } });
    expect(choice.problem?.message).toContain("the fleet's pool 10.0.0.0/16 has no free /18");
  });

  it("differs for Spokes that appear together, and never overlaps, in any number", () => {
    const made: string[] = [];
    for (let index = 0; index < 50; index += 1) {
      const others = made.map((network, other) => recorded(`spoke-${other}`, network));
      const { cidr: network = "" } = ask(spoke({}, `spoke-${index}`), others);
      expect(made.some((other) => overlaps(cidr(other), cidr(network)))).toBe(false);
      made.push(network);
    }
    const alone = Array.from({ length: 50 }, (_, index) => ask(spoke({}, `spoke-${index}`)).cidr);
    expect(new Set(alone).size).toBeGreaterThan(35);
  });

  it("goes to one Spoke only when many claim at the same time", () => {
    const pool = { ...hub, spokeCidrPool: "10.64.0.0/15" };
    const owners = new Map<string, string>();
    const worlds = Array.from(
      { length: 8 },
      (_, index) => new World(spoke({}, `spoke-${index}`, `uid-${index}`), { hub: pool }),
    );
    for (let round = 0; round < 60; round += 1) {
      for (const world of worlds) {
        world.others = worlds.filter((other) => other !== world).map((other) => other.spoke);
        world.step();
        // An object of one name has one owner: the API server refuses the others' claims.
        for (const [key, live] of world.live) {
          if (!key.startsWith("network-")) continue;
          const owner = owners.get(key) ?? world.spoke.metadata.name;
          if (!live.deleting) owners.set(key, owner);
          if (owner !== world.spoke.metadata.name) world.live.delete(key);
        }
      }
    }
    const networks = worlds.map((world) => String(world.forProvider("vpc")["cidrBlock"]));
    expect(new Set(networks).size).toBe(8);
    expect(worlds.map((world) => world.answer?.ready)).not.toContain(false);
  });
});

describe("a network that the Spoke names", () => {
  const named = (network: string, name = "blue", created?: string) =>
    spoke({ network: { cidr: network, zones: 2, natGateways: "single" } }, name, `uid-${name}`, created);

  it("is taken when it is free", () => {
    expect(ask(named("10.200.0.0/16"), [named("10.201.0.0/16", "red")])).toEqual({
      cidr: "10.200.0.0/16",
      accepted: true,
    });
  });

  it("is refused when it overlaps the hub, with both networks named", () => {
    const { problem } = ask(named("10.0.128.0/17"));
    expect(problem).toMatchObject({ reason: "NetworkOverlap" });
    expect(problem?.message).toContain("10.0.128.0/17 overlaps 10.0.0.0/16 of the hub");
  });

  it("is refused when it overlaps a network that is in use, also one of the pool", () => {
    expect(ask(named("10.64.0.0/16"), [recorded("red", "10.64.64.0/18")]).problem?.message).toContain(
      "10.64.64.0/18 of Spoke red",
    );
  });

  it("goes to the older of two Spokes that name the same, and to one of them only", () => {
    const older = named("10.200.0.0/16", "red", "2026-01-01T00:00:00Z");
    const younger = named("10.200.0.0/17", "blue", "2026-01-02T00:00:00Z");
    expect(ask(older, [younger]).accepted).toBe(true);
    expect(ask(younger, [older])).toMatchObject({ accepted: false, problem: { reason: "NetworkOverlap" } });
    const same = named("10.200.0.0/16", "blue", "2026-01-01T00:00:00Z");
    expect([ask(older, [same]).accepted, ask(same, [older]).accepted].sort()).toEqual([false, true]);
  });

  it("is taken again when the other Spoke is gone", () => {
    const world = new World(named("10.200.0.0/16"), { others: [recorded("red", "10.200.0.0/16")] });
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "NetworkOverlap" });
    world.others = [];
    expect(world.settle().ready).toBe(true);
    expect([...world.live.keys()].filter((key) => key.startsWith("network-"))).toEqual([]);
  });
});
