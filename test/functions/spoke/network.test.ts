import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Spoke } from "../../../functions/spoke/api.ts";
import { addressRegion, type Claim, claimKey, claimManifest, readClaim } from "../../../functions/spoke/claims.ts";
import { chooseNetwork, regionsToRead } from "../../../functions/spoke/network-choice.ts";
import { Observed } from "../../../functions/spoke/observed.ts";
import { candidates } from "../../../functions/spoke/pool.ts";
import { type Cidr, contains, formatCidr, overlaps, parseCidr } from "../../../lib/cidr.ts";
import { poolPrefix } from "../../../lib/spoke.ts";
import { hub, spoke } from "./support/fixtures.ts";
import { settled, World } from "./support/world.ts";

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
const arbitraryName = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/);

describe("the blocks that a Spoke tries", () => {
  it("are all blocks of the pool, each once, in an order that follows from the Spoke's name", () => {
    fc.assert(
      fc.property(arbitraryPool, arbitraryName, (pool, name) => {
        const blocks = candidates(pool, name);
        expect(blocks.length).toBe(2 ** (poolPrefix - pool.prefix));
        expect(new Set(blocks.map(formatCidr)).size).toBe(blocks.length);
        expect(blocks.every((block) => block.prefix === poolPrefix && contains(pool, block))).toBe(true);
        expect(candidates(pool, name)).toEqual(blocks);
      }),
      { numRuns: 30 },
    );
  });

  it("are none in a pool that is smaller than a block", () => {
    expect(candidates(cidr("10.0.0.0/20"), "blue")).toEqual([]);
  });
});

const nothing = new Observed(new Map());
const FIRST = "2026-01-01T00:00:00Z";
const later = (seconds: number): string => new Date(Date.parse(FIRST) + seconds * 1000).toISOString();

/** What the Spoke `owner` claims. */
const claim = (owner: string, network: string, change: Partial<Claim> = {}): Claim => ({
  ...{ owner, cidr: cidr(network), fromPool: true, created: FIRST },
  ...change,
});
const ownNetwork = (owner: string, network: string, created = FIRST) =>
  claim(owner, network, { fromPool: false, created });

/** The claims as Crossplane hands them over: by region, those regions that the function asks for. */
function read(asking: Spoke, others: readonly Claim[], about = hub): Map<string, Claim[]> {
  let claims = new Map<string, Claim[]>();
  for (let call = 0; call < 4; call += 1) {
    const regions = regionsToRead({ spoke: asking, hub: about, claims });
    if (regions.every((region) => claims.has(region))) return claims;
    claims = new Map(regions.map((region) => [region, others.filter((other) => addressRegion(other.cidr) === region)]));
  }
  throw new Error("the function asks for more after four calls");
}

/** The Spoke's own claim as it is stored. */
const stored = (name: string, network: string, fromPool: boolean, created: string) => {
  const manifest = claimManifest(name, network, fromPool);
  const object = { ...manifest, metadata: { ...manifest.metadata, creationTimestamp: created } };
  return new Observed(new Map([[claimKey(network), object]]));
};

const ask = (asking = spoke(), others: readonly Claim[] = [], observed = nothing, now = later(60), about = hub) =>
  chooseNetwork({ spoke: asking, observed, hub: about, claims: read(asking, others, about), now: Date.parse(now) });
const recorded = (name: string, network: string, change: Record<string, unknown> = {}) => ({
  ...spoke(change, name),
  status: { network: { cidr: network } },
});

describe("a claim", () => {
  it("can be read by the other Spokes, and says whether it is on a block of the pool", () => {
    for (const fromPool of [true, false]) {
      const object = claimManifest("blue", "10.64.0.0/18", fromPool);
      expect(readClaim(object)).toEqual(claim("blue", "10.64.0.0/18", { fromPool, created: "" }));
    }
  });

  it("is found by the /16 that its network lies in: networks that overlap have the same", () => {
    const label = (network: string) =>
      claimManifest("blue", network, false).metadata.labels?.["fleet.internal/network"];
    expect([label("10.64.0.0/16"), label("10.64.192.0/20"), label("10.65.0.0/18")]).toEqual([
      ...["10.64.0.0-16", "10.64.0.0-16"],
      "10.65.0.0-16",
    ]);
  });

  it("on a block of the pool has the block's name, which the API server gives to one Spoke only", () => {
    const names = ["blue", "red"].map((name) => claimManifest(name, "10.64.0.0/18", true).metadata.name);
    expect(names).toEqual(["network-10-64-0-0-18", "network-10-64-0-0-18"]);
  });

  it("on a network that a Spoke names never stands in another Spoke's way", () => {
    const names = ["blue", "red"].map((name) => claimManifest(name, "10.64.0.0/18", false).metadata.name);
    expect(names).toEqual(["network-10-64-0-0-18-of-blue", "network-10-64-0-0-18-of-red"]);
  });
});

describe("the claims that a Spoke reads", () => {
  const pool = { ...hub, spokeCidrPool: "10.0.0.0/8" };
  const every = Array.from({ length: 256 }, (_, index) => `10.${index}.0.0-16`);

  it("are those of the one /16 that its own network lies in", () => {
    const named = spoke({ network: { cidr: "10.200.16.0/20", zones: 2, natGateways: "single" } });
    expect([...read(named, []).keys()]).toEqual(["10.200.0.0-16"]);
  });

  it("do not become more with the fleet while the pool has room near the first block that it tries", () => {
    const far = candidates(cidr("10.0.0.0/8"), "blue")
      .slice(16)
      .map((block, index) => claim(`spoke-${index}`, formatCidr(block)));
    expect(far.length).toBe(1008);
    const [alone, among] = [read(spoke(), [], pool), read(spoke(), far, pool)];
    expect([...among.keys()]).toEqual([...alone.keys()]);
    expect(among.size).toBeLessThanOrEqual(5);
  });

  it("reach the last block of the largest pool in five calls with the one that asks for the hub: Crossplane allows six", () => {
    const blocks = candidates(cidr("10.0.0.0/8"), "blue");
    const [last, ...taken] = blocks.toReversed().map(formatCidr);
    const others = taken.map((block, index) => claim(`spoke-${index}`, block));
    expect(ask(spoke(), others, nothing, later(60), pool).cidr).toBe(last);
    expect([...read(spoke(), others, pool).keys()].sort()).toEqual(every.sort());
  });
});

describe("a network from the pool", () => {
  it("is claimed and recorded first, and made when the claim is the Spoke's own", () => {
    const choice = ask();
    expect(choice).toMatchObject({ accepted: false, claim: claimKey(choice.cidr ?? "") });
    const wish = recorded("blue", choice.cidr ?? "");
    expect(ask(wish)).toEqual(choice);
    const own = stored("blue", choice.cidr ?? "", true, FIRST);
    expect(ask(wish, [], own, FIRST)).toEqual({ ...choice, accepted: true });
  });

  it("is another one when somebody else claimed the same first", () => {
    const { cidr: wanted = "" } = ask();
    const second = ask(recorded("blue", wanted), [claim("red", wanted)]);
    expect(second.accepted).toBe(false);
    expect(overlaps(cidr(second.cidr ?? ""), cidr(wanted))).toBe(false);
  });

  it.each([
    ["older than its claim", 5, 0, false],
    ["of the same second", 0, 0, true],
    ["younger than its claim", 0, 5, true],
  ])("with a network that another Spoke names and that is %s: keeps the block %s", (_, own, other, keeps) => {
    const { cidr: wanted = "" } = ask();
    const observed = stored("blue", wanted, true, later(own));
    const choice = ask(recorded("blue", wanted), [ownNetwork("red", wanted, later(other))], observed);
    expect([choice.accepted, choice.cidr === wanted]).toEqual([keeps, keeps]);
  });

  it("stays once the VPC is made, whatever others say", () => {
    const world = settled(spoke());
    const { cidr: made = "" } = world.spoke.status?.network ?? {};
    world.removed.length = 0;
    world.others = [claim("red", made)];
    world.spoke = { ...world.spoke, status: {} };
    expect(world.settle()).toMatchObject({ ready: true, status: { network: { cidr: made } } });
    expect(world.removed).toEqual([]);
  });

  it("is refused with advice when the pool is full", () => {
    const choice = ask(spoke(), [], nothing, later(60), { ...hub, spokeCidrPool: "10.0.0.0/16" });
    expect(choice).toMatchObject({ accepted: false, problem: { reason: "PoolExhausted" } });
    expect(choice.problem?.message).toContain("the fleet's pool 10.0.0.0/16 has no free /18");
  });

  it("differs for Spokes that appear together, and never overlaps, in any number", () => {
    const made: string[] = [];
    for (let index = 0; index < 50; index += 1) {
      const others = made.map((network, other) => claim(`spoke-${other}`, network));
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
    const claims = () =>
      [...owners].map(([key, owner]) => {
        const object = worlds.find(({ spoke: { metadata } }) => metadata.name === owner)?.live.get(key)?.object;
        return object && readClaim(object);
      });
    const worlds = Array.from(
      { length: 8 },
      (_, index) => new World(spoke({}, `spoke-${index}`, `uid-${index}`), { hub: pool }),
    );
    for (let round = 0; round < 60; round += 1) {
      for (const world of worlds) {
        world.others = claims().filter((one) => one !== undefined);
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
  const named = (network: string, name = "blue") =>
    spoke({ network: { cidr: network, zones: 2, natGateways: "single" } }, name);

  it("is claimed first, and made when the claim is five seconds old: by then every older claim is seen", () => {
    const other = ownNetwork("red", "10.201.0.0/16");
    const claimed = { cidr: "10.200.0.0/16", accepted: false, claim: "network-10-200-0-0-16" };
    expect(ask(named("10.200.0.0/16"), [other])).toEqual(claimed);
    const own = stored("blue", "10.200.0.0/16", false, FIRST);
    expect(ask(named("10.200.0.0/16"), [other], own, later(4))).toEqual(claimed);
    expect(ask(named("10.200.0.0/16"), [other], own, later(5))).toEqual({ ...claimed, accepted: true });
  });

  it("is refused when it overlaps the hub, with both networks named", () => {
    const { problem } = ask(named("10.0.128.0/17"));
    expect(problem).toMatchObject({ reason: "NetworkOverlap" });
    expect(problem?.message).toContain("10.0.128.0/17 overlaps 10.0.0.0/16 of the hub");
  });

  it("is refused, and not claimed, when it overlaps a network that is in use, also one of the pool", () => {
    const choice = ask(named("10.64.0.0/16"), [claim("red", "10.64.64.0/18")]);
    expect(choice.problem?.message).toContain("10.64.64.0/18 of Spoke red");
    expect(choice.claim).toBeUndefined();
  });

  it("goes to the Spoke that claimed it first, and of two of the same second to one of them only", () => {
    const accepted = (name: string, other: Claim, network: string, created: string) =>
      ask(named(network, name), [other], stored(name, network, false, created)).accepted;
    const [wide, narrow] = ["10.200.0.0/16", "10.200.0.0/17"];
    expect(accepted("red", ownNetwork("blue", narrow, later(1)), wide, FIRST)).toBe(true);
    expect(accepted("blue", ownNetwork("red", wide), narrow, later(1))).toBe(false);
    const both = [
      accepted("red", ownNetwork("blue", wide), wide, FIRST),
      accepted("blue", ownNetwork("red", wide), wide, FIRST),
    ];
    expect(both.sort()).toEqual([false, true]);
  });

  it("is given up by a Spoke that finds an older claim on it", () => {
    const observed = stored("blue", "10.200.0.0/16", false, later(1));
    const choice = ask(named("10.200.0.0/16"), [claim("red", "10.200.64.0/18")], observed);
    expect(choice).toMatchObject({ accepted: false, problem: { reason: "NetworkOverlap" } });
    expect(choice.claim).toBeUndefined();
  });

  it("gives way to a block of the pool, also to one that was claimed later: that counts at once", () => {
    const observed = stored("blue", "10.200.0.0/16", false, FIRST);
    const choice = ask(named("10.200.0.0/16"), [claim("red", "10.200.64.0/18", { created: later(3) })], observed);
    expect(choice).toMatchObject({ accepted: false, problem: { reason: "NetworkOverlap" } });
  });

  it("leaves nothing behind in AWS when another Spoke turns out to have it", () => {
    const world = new World(named("10.200.0.0/16"));
    world.step();
    world.step();
    expect([...world.live.keys()]).toEqual(["deletion-guard", "network-10-200-0-0-16"]);
    world.others = [claim("red", "10.200.0.0/18", { created: "" })];
    world.settle();
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "NetworkOverlap" });
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
  });

  it("of a VPC that exists is the other one's to leave: nobody is told to choose another", () => {
    const over = (hubCidr: string): string => {
      const network = { cidr: "10.200.0.0/16", availabilityZones: ["us-east-1a", "us-east-1b"] };
      const world = new World(spoke({ network, existing: { vpc: "vpc-0a1b2c3d4e5f60718" } }), {
        hub: { ...hub, aws: { ...hub.aws, vpcCidr: hubCidr } },
        others: [claim("red", "10.200.0.0/18")],
      });
      world.settle();
      expect([...world.live.keys()]).toEqual(["deletion-guard"]);
      return world.condition("SpecAccepted")?.message ?? "";
    };
    expect(over("10.0.0.0/16")).toContain("so Spoke red has to leave it: remove Spoke red, and add it again once this");
    expect(over("10.200.0.0/16")).toContain("so a hub in this network can't take the spoke in");
    for (const each of ["10.0.0.0/16", "10.200.0.0/16"]) expect(over(each)).not.toContain("free network");
  });

  it("is taken again when the other Spoke is gone", () => {
    const world = settled(named("10.200.0.0/16"), { others: [claim("red", "10.200.0.0/18")] });
    expect(world.condition("SpecAccepted")).toMatchObject({ reason: "NetworkOverlap" });
    expect([...world.live.keys()]).toEqual(["deletion-guard"]);
    world.others = [];
    expect(world.settle().ready).toBe(true);
    expect(world.object("network-10-200-0-0-16").metadata.name).toBe("network-10-200-0-0-16-of-blue");
  });
});
