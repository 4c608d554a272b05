import { describe, expect, test } from "vitest";
import type { SyncState } from "../../../cli/rollouts/health.ts";
import { id, rings, Story } from "./support/story.ts";

const three = `
rings:
  - { name: canary, soak: 1h }
  - { name: early, soak: 24h, maxUnavailable: 10% }
  - { name: rest, soak: 24h }
`;

/** Three rings with the commit a, long healthy: two spokes, ten and one. */
function fleet(policy = three): Story {
  const early = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`early-${index}`, "early"]));
  const story = new Story(policy, { blue: "canary", teal: "canary", ...early, prod: "rest" });
  story.run();
  for (const ring of ["canary", "early", "rest"]) story.arrive(ring);
  story.pass(10_000);
  return story;
}

/** Moves the ring and lets its spokes have it. */
function runAndArrive(story: Story, ring: string): string[] {
  const moves = story.run();
  story.arrive(ring);
  return moves;
}

describe("a change", () => {
  test("goes from ring to ring, each time after the soak of the ring before", () => {
    const story = fleet();
    story.commit("b");
    expect(story.run()).toEqual(["canary: a -> b"]);
    expect(story.told).toEqual({ canary: "arriving", early: "waits for canary", rest: "up to date" });
    expect(story.run()).toEqual([]);
    story.arrive("canary");
    story.pass(59);
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toBe("soaking 59m of 1h");
    story.pass(1);
    expect(runAndArrive(story, "early")).toEqual(["early: a -> b"]);
    story.pass(3 * 60);
    expect(story.told["early"]).toBe("soaking 3h of 24h");
    expect(story.next["rest"]).toBe(`takes ${id("b").slice(0, 7)} when early has passed`);
    story.pass(21 * 60);
    expect(runAndArrive(story, "rest")).toEqual(["rest: a -> b"]);
    story.pass(24 * 60);
    expect(story.told).toEqual({ canary: "up to date", early: "up to date", rest: "up to date" });
    expect(story.run()).toEqual([]);
  });

  test("of spokes and clusters only moves nothing", () => {
    const story = fleet();
    story.commit("spoke", "a");
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toBe("up to date");
  });

  test("that is bad stops in the first ring; the second never sees it, and the revert passes", () => {
    const story = fleet();
    story.commit("bad");
    story.run();
    story.arrive("canary", "teal");
    story.fail("teal");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
    expect(story.told).toMatchObject({
      canary: "stopped: 1 of 2 spokes is unhealthy (teal)",
      early: "waits for canary",
    });
    expect(story.next["canary"]).toBe("takes a fix or a revert at once");
    story.commit("revert", "a");
    expect(story.run()).toEqual(["canary: bad -> revert"]);
    story.arrive("canary");
    expect(story.told).toMatchObject({ early: "up to date" });
    story.pass(60);
    expect(story.run()).toEqual([]);
    expect(story.tips.get("early")).toBe(id("a"));
    expect(story.told).toEqual({ canary: "up to date", early: "up to date", rest: "up to date" });
  });

  test("whose Composition Flux can't apply stops, though no spoke has seen it", () => {
    const story = fleet();
    story.commit("bad");
    story.run();
    const attempted = `ring/canary@sha1:${id("bad")}`;
    const failed = { status: "False", reason: "ReconciliationFailed", message: "Composition is invalid" };
    const sync = { ...failed, attempted, applied: "", isCurrent: true };
    story.states.set("canary", { composition: "spoke-canary-a", sync, source: undefined });
    expect(story.told["canary"]).toBe("stopped: its Composition can't be applied: Composition is invalid");
  });

  test("that breaks a spoke which passed is a stop as well, until the spoke is healthy for its soak again", () => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(50);
    story.fail("blue");
    story.pass(50);
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toMatch(/^stopped: 1 of 2/);
    story.arrive("canary");
    story.pass(30);
    expect(story.told["canary"]).toBe("soaking 30m of 1h");
    story.pass(30);
    expect(story.run()).toEqual(["early: a -> b"]);
  });
});

describe("maxUnavailable", () => {
  const arrived = (without: string[]) => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(60);
    story.run();
    story.arrive("early", ...without);
    return story;
  };

  test("lets a share of the spokes be unhealthy, rounded down", () => {
    const story = arrived(["early-0"]);
    story.fail("early-0");
    story.pass(24 * 60);
    expect(story.run()).toEqual(["rest: a -> b"]);
  });

  test("is exceeded by one more", () => {
    const story = arrived(["early-0", "early-1"]);
    story.fail("early-0");
    story.fail("early-1");
    expect(story.told["early"]).toBe("stopped: 2 of 10 spokes are unhealthy (early-0, early-1)");
  });

  test("of nine spokes and 10% is none", () => {
    const [, early] = rings(three);
    expect([early?.allows(9), early?.allows(10), early?.allows(19), early?.allows(20)]).toEqual([0, 1, 1, 2]);
  });

  test("counts a spoke that is still arriving as neither healthy nor unhealthy", () => {
    const story = arrived(["early-0", "early-1", "early-2"]);
    expect(story.told["early"]).toBe("arriving");
    expect(story.next["early"]).toBe("must arrive: early-0, early-1, early-2");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
  });
});

describe("a spoke has what its ring has", () => {
  /** The state of canary when one of its spokes is changed. */
  const stateWith = (change: Parameters<Story["spoke"]>[1]) => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    const rollout = story.spokes.get("teal")?.rollout ?? {};
    story.spoke("teal", { ...change, rollout: { ...rollout, ...change.rollout } });
    return story.told["canary"];
  };

  test.each([
    ["another revision", { rollout: { revision: `ring/canary@sha1:${id("a")}` } }],
    ["a revision of another ring", { rollout: { revision: `ring/early@sha1:${id("b")}` } }],
    ["a revision on its way", { rollout: { next: `ring/canary@sha1:${id("c")}` } }],
    ["an older revision of the Composition", { rollout: { composition: "spoke-canary-old" } }],
    ["nodes that are being replaced", { isReady: false, phase: "Upgrading" }],
    ["not been made yet", { isReady: false, phase: "Network", rollout: {} }],
  ])("but not when it has %s", (_, change) => expect(stateWith(change)).toBe("arriving"));

  test.each([
    ["fails", { isReady: false, phase: "Failing" }],
    ["is refused", { isReady: false, phase: "Refused" }],
    ["is not Ready for another reason", { isReady: false }],
    ["can't be made by its Composition", { isSynced: false }],
  ])("and is unhealthy when it %s", (_, change) =>
    expect(stateWith(change)).toBe("stopped: 1 of 2 spokes is unhealthy (teal)"),
  );

  /** The state of canary, which has all of b, when its Kustomization is changed. */
  const syncedWith = (change: Partial<SyncState>) => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    const state = story.states.get("canary");
    if (state?.sync === undefined) throw new Error("the ring has no Kustomization");
    story.states.set("canary", { ...state, sync: { ...state.sync, ...change } });
    return story.told["canary"];
  };
  const failed = { status: "False", message: "it says why" };

  test("only once Flux has applied the ring's Composition", () => {
    expect(syncedWith({ isCurrent: false })).toBe("arriving");
    expect(syncedWith({ attempted: `ring/canary@sha1:${id("a")}` })).toBe("arriving");
    expect(syncedWith({ applied: `ring/canary@sha1:${id("a")}`, status: "Unknown" })).toBe("arriving");
    expect(syncedWith({ ...failed, reason: "HealthCheckFailed" })).toMatch(/^stopped: .* it says why$/);
  });

  test("also while Flux applies the Composition once more, or waits for another step of the hub", () => {
    expect(syncedWith({ status: "Unknown" })).toBe("soaking 0s of 1h");
    expect(syncedWith({ ...failed, reason: "DependencyNotReady" })).toBe("soaking 0s of 1h");
  });

  test("not before the hub has a Kustomization for the ring", () => {
    const story = fleet();
    story.states.delete("canary");
    expect(story.next["canary"]).toBe("must arrive: the hub has no Kustomization for it yet");
  });
});

describe("a ring that soaks", () => {
  test("takes nothing newer until the next one has what it has, however often people commit", () => {
    const story = fleet();
    const moves: string[] = [];
    for (const name of ["b", "c", "d", "e", "f", "g"]) {
      story.commit(name);
      const moved = story.run();
      moves.push(...moved);
      for (const ring of ["canary", "early", "rest"])
        if (moved.some((move) => move.startsWith(ring))) story.arrive(ring);
      story.pass(20);
    }
    // b soaks for an hour, goes on to early, and only then canary takes what is newest.
    expect(moves).toEqual(["canary: a -> b", "early: a -> b", "canary: b -> f"]);
    expect(story.told["canary"]).toContain("waits for early to take what it has");
  });

  test("takes the newest at once when it is arriving or stopped", () => {
    const story = fleet();
    story.commit("b");
    story.run();
    story.commit("c");
    expect(story.run()).toEqual(["canary: b -> c"]);
    story.arrive("canary");
    story.fail("blue");
    story.commit("d");
    expect(story.run()).toEqual(["canary: c -> d"]);
  });

  test.each([
    ["held", "{ name: early, hold: true }"],
    ["pinned", `{ name: early, revision: "${id("a")}" }`],
  ])("takes the newest when the next one is %s", (_, early) => {
    const story = fleet(`rings: [{ name: canary }, ${early}]`);
    story.commit("b");
    runAndArrive(story, "canary");
    story.commit("c");
    expect(story.run()).toEqual(["canary: b -> c"]);
  });

  test("takes the newest when it is the last", () => {
    const story = new Story("rings: [{ name: only }]", { blue: "only" });
    runAndArrive(story, "only");
    story.commit("b");
    expect(runAndArrive(story, "only")).toEqual(["only: a -> b"]);
    story.commit("c");
    expect(story.run()).toEqual(["only: b -> c"]);
  });
});

test("two changes are under way at once, each in a ring of its own", () => {
  const story = fleet();
  story.commit("b");
  runAndArrive(story, "canary");
  story.pass(60);
  story.commit("c");
  expect(story.run()).toEqual(["early: a -> b"]);
  story.arrive("early");
  expect(story.run()).toEqual(["canary: b -> c"]);
  story.arrive("canary");
  story.pass(24 * 60);
  expect(story.told).toEqual({
    canary: "up to date",
    early: "waits for rest to take what it has",
    rest: "to be moved",
  });
  expect(story.run()).toEqual(["rest: a -> b"]);
  expect(story.run()).toEqual(["early: b -> c"]);
});

describe("hold", () => {
  const held = `rings: [{ name: canary }, { name: early, hold: true }, { name: rest }]`;

  test("keeps a ring as it is, and those before it go on", () => {
    const story = fleet(held);
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
    expect(story.told).toEqual({ canary: "up to date", early: "held", rest: "up to date" });
    expect(story.next["early"]).toBe(`takes ${id("b").slice(0, 7)} once hold is taken away`);
    story.rings = rings(held.replace(", hold: true", ""));
    expect(story.run()).toEqual(["early: a -> b"]);
  });

  test("does not keep a ring from getting a branch", () => {
    const story = new Story(held, {});
    expect(story.run()).toEqual(["canary: create -> a", "early: create -> a", "rest: create -> a"]);
  });
});

describe("a revision", () => {
  const pinned = (commit: string) =>
    three.replace("{ name: early,", `{ name: early, windows: [{ days: [Sat] }], revision: "${commit}",`);

  test("takes a ring back, whatever its windows, and keeps it there until it is taken away", () => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(60);
    runAndArrive(story, "early");
    story.rings = rings(pinned(id("a")));
    expect(story.decisions[1]?.verdict).toEqual({
      kind: "moves",
      move: { ring: "early", kind: "roll back", from: id("b"), to: id("a") },
    });
    expect(runAndArrive(story, "early")).toEqual(["early: b -> a (back)"]);
    story.pass(60);
    story.commit("c");
    expect(runAndArrive(story, "canary")).toEqual(["canary: b -> c"]);
    expect(story.told["early"]).toBe("soaking 1h of 24h, pinned");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
    story.rings = rings(three);
    expect(story.run()).toEqual(["early: a -> c"]);
  });

  test("takes a ring forward as well, and the rings after it go on from there", () => {
    const story = fleet();
    story.commit("b");
    story.commit("c");
    story.rings = rings(three.replace("{ name: canary,", `{ name: canary, revision: "${id("b")}",`));
    expect(runAndArrive(story, "canary")).toEqual(["canary: a -> b"]);
    story.pass(60);
    expect(story.run()).toEqual(["early: a -> b"]);
  });

  test("of the first ring takes nothing away from the next, and without it both go on", () => {
    const story = fleet();
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(60);
    runAndArrive(story, "early");
    story.rings = rings(three.replace("{ name: canary,", `{ name: canary, revision: "${id("a")}",`));
    runAndArrive(story, "canary");
    story.pass(10_000);
    expect(story.run()).toEqual(["rest: a -> b"]);
    expect(story.told["early"]).toBe("ahead of canary");
    story.rings = rings(three);
    story.commit("c");
    expect(story.run()).toEqual(["canary: a -> c"]);
  });

  test("that the hub's branch lacks is a problem, and so it is for the rings after it, not for those before", () => {
    const story = fleet();
    story.commit("b");
    story.rings = rings(pinned(id("unknown")));
    expect(story.run()).toEqual(["canary: a -> b"]);
    expect(story.told).toMatchObject({ early: "problem", rest: "stops behind early" });
    expect(story.next["early"]).toBe(
      `revision ${id("unknown")} is not a commit of the hub's branch: correct it in rings.yaml`,
    );
  });
});

describe("a window", () => {
  const windowed = three.replace(
    "{ name: early,",
    '{ name: early, windows: [{ days: [Tue], from: "08:00", to: "16:00", timeZone: Europe/Berlin }],',
  );

  test("is waited for", () => {
    const story = fleet(windowed);
    story.now = Date.parse("2026-12-07T09:00:00Z"); // a Monday
    story.commit("b");
    runAndArrive(story, "canary");
    story.pass(60);
    expect(story.run()).toEqual([]);
    expect(story.told["early"]).toBe("waits for its window (Tue 08:00 Europe/Berlin)");
    story.commit("c");
    expect(story.run()).toEqual([]);
    story.now = Date.parse("2026-12-08T07:00:00Z");
    expect(story.run()).toEqual(["early: a -> b"]);
  });

  test("does not keep a ring from getting a branch", () => {
    const story = new Story(windowed, {});
    expect(story.run()).toContain("early: create -> a");
  });
});

describe("a ring without a branch", () => {
  test("gets it at what the ring before has, also when that has not passed yet", () => {
    const story = fleet("rings: [{ name: canary }, { name: rest }]");
    story.commit("b");
    story.run();
    story.rings = rings("rings: [{ name: canary }, { name: new }, { name: rest }]");
    expect(story.run()).toEqual(["new: create -> b"]);
  });

  test("and without spokes passes at once", () => {
    const story = new Story("rings: [{ name: empty }, { name: rest }]", { prod: "rest" });
    story.run();
    story.arrive("rest");
    story.commit("b");
    expect(story.run()).toEqual(["empty: a -> b"]);
    expect(story.next["empty"]).toBe("nothing waits; without spokes it passes at once");
    expect(story.run()).toEqual(["rest: a -> b"]);
  });
});

test("commits that somebody pushed to a ring's branch stop it and the later ones, and the others go on", () => {
  const story = fleet();
  story.push("early", "a fix by hand");
  story.commit("b");
  expect(story.run()).toEqual(["canary: a -> b"]);
  expect(story.told).toEqual({ canary: "arriving", early: "problem", rest: "stops behind early" });
  expect(story.next["early"]).toContain(`lacks: ${id("a fix by hand").slice(0, 7)} a fix by hand. Merge them`);
  story.arrive("canary");
  story.commit("c");
  expect(story.run()).toEqual(["canary: b -> c"]);
});
