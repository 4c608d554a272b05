import { describe, expect, test } from "vitest";
import { threeHealthy as fleet, id, rings, runAndArrive, Story, threeRings as three } from "./support/story.ts";

describe("a change", () => {
  test("goes from ring to ring, each time after the soak of the ring before", () => {
    const story = fleet().commit("b");
    expect(story.run()).toEqual(["canary: a -> b"]);
    expect(story.told).toMatchObject({ canary: "arriving", early: "waits for canary", rest: "up to date" });
    expect(story.run()).toEqual([]);
    story.arrive("canary").pass(59);
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
    const story = fleet().commit("spoke", "a");
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toBe("up to date");
  });

  test("that is bad stops in the first ring; the second never sees it, and the revert passes", () => {
    const story = fleet();
    story.commit("bad").run();
    story.arrive("canary", "teal").fail("teal").pass(10_000);
    expect(story.run()).toEqual([]);
    expect(story.told).toMatchObject({
      canary: "stopped: 1 of 2 spokes is unhealthy (teal): the step tools fails",
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

  test("that is bad in a later ring is taken back by a fix that goes through the rings before, or by a revision", () => {
    const story = fleet().fail("prod");
    expect(story.next["rest"]).toBe(
      "takes a fix or a revert once early has passed with it; revision in rings.yaml brings it back now",
    );
  });

  test("that breaks a spoke which passed is a stop as well, until the spoke is healthy for its soak again", () => {
    const story = fleet().commit("b");
    runAndArrive(story, "canary");
    story.pass(50).fail("blue").pass(50);
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toMatch(/^stopped: 1 of 2/);
    story.arrive("canary").pass(30);
    expect(story.told["canary"]).toBe("soaking 30m of 1h");
    story.pass(30);
    expect(story.run()).toEqual(["early: a -> b"]);
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
    story.commit("b").run();
    story.commit("c");
    expect(story.run()).toEqual(["canary: b -> c"]);
    story.arrive("canary").fail("blue").commit("d");
    expect(story.run()).toEqual(["canary: c -> d"]);
  });

  test.each([
    ["held", "{ name: early, hold: true }"],
    ["pinned", `{ name: early, revision: "${id("a")}" }`],
  ])("takes the newest when the next one is %s", (_, early) => {
    const story = fleet(`rings: [{ name: canary }, ${early}]`).commit("b");
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
  const story = fleet().commit("b");
  runAndArrive(story, "canary");
  story.pass(60).commit("c");
  expect(story.run()).toEqual(["early: a -> b"]);
  story.arrive("early");
  expect(story.run()).toEqual(["canary: b -> c"]);
  story.arrive("canary").pass(24 * 60);
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
    const story = fleet(held).commit("b");
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
    story.run();
    story.fetch("canary");
    expect(story.run()).toEqual(["early: create -> a"]);
  });
});

describe("a revision", () => {
  const pinned = (commit: string) =>
    three.replace("{ name: early,", `{ name: early, windows: [{ days: [Sat] }], revision: "${commit}",`);

  test("takes a ring back, whatever its windows, and keeps it there until it is taken away", () => {
    const story = fleet().commit("b");
    runAndArrive(story, "canary");
    story.pass(60);
    runAndArrive(story, "early");
    story.rings = rings(pinned(id("a")));
    expect(story.decisions[1]?.verdict).toEqual({
      kind: "moves",
      move: { ring: "early", kind: "roll back", from: id("b"), to: id("a") },
    });
    expect(runAndArrive(story, "early")).toEqual(["early: b -> a (back)"]);
    story.pass(60).commit("c");
    expect(runAndArrive(story, "canary")).toEqual(["canary: b -> c"]);
    expect(story.told["early"]).toBe("soaking 1h of 24h, pinned");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
    story.rings = rings(three);
    expect(story.run()).toEqual(["early: a -> c"]);
  });

  test("takes a ring forward as well, and the rings after it go on from there", () => {
    const story = fleet().commit("b").commit("c");
    story.rings = rings(three.replace("{ name: canary,", `{ name: canary, revision: "${id("b")}",`));
    expect(runAndArrive(story, "canary")).toEqual(["canary: a -> b"]);
    story.pass(60);
    expect(story.run()).toEqual(["early: a -> b"]);
  });

  test("of the first ring takes nothing away from the next, and without it both go on", () => {
    const story = fleet().commit("b");
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
    const story = fleet().commit("b");
    story.rings = rings(pinned(id("unknown")));
    expect(story.run()).toEqual(["canary: a -> b"]);
    expect(story.told).toMatchObject({ early: "problem", rest: "stops behind early" });
    expect(story.next["early"]).toBe(
      `revision ${id("unknown")} is not a commit of the hub's branch: correct it in rings.yaml`,
    );
  });

  test("from before there was a Composition is a problem", () => {
    const story = fleet();
    story.bare.add(id("a"));
    story.commit("b");
    story.rings = rings(pinned(id("a")));
    story.run();
    expect(story.told["early"]).toBe("problem");
    expect(story.next["early"]).toContain("has no platform/composition");
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
    story.run();
    story.fetch("canary");
    expect(story.run()).toEqual(["early: create -> a"]);
  });

  test("is not waited for by a ring that has stopped", () => {
    const story = fleet(windowed);
    story.now = Date.parse("2026-12-08T09:00:00Z"); // a Tuesday
    story.commit("bad");
    runAndArrive(story, "canary");
    story.pass(60);
    expect(runAndArrive(story, "early")).toEqual(["early: a -> bad"]);
    story.fail("early-0").fail("early-1");
    story.pass(24 * 60).commit("fix");
    runAndArrive(story, "canary");
    expect(story.next["early"]).toBe(`takes ${id("fix").slice(0, 7)} when canary has passed`);
    story.pass(60);
    expect(story.run()).toEqual(["early: bad -> fix"]);
  });
});

describe("a ring without a branch", () => {
  const two = "rings: [{ name: canary, soak: 1h }, { name: rest }]";

  test("gets it when the ring before has passed, at what that one has", () => {
    const story = new Story(two, { blue: "canary" });
    expect(story.run()).toEqual(["canary: create -> a"]);
    expect(story.told["rest"]).toBe("no branch yet, waits for canary");
    expect(story.next["rest"]).toBe("gets a branch when canary has passed");
    story.arrive("canary").pass(59);
    expect(story.run()).toEqual([]);
    story.pass(1).commit("b");
    expect(story.run()).toEqual(["rest: create -> a"]);
  });

  test("gets nothing that is bad in the ring before, whether or not it has spokes itself", () => {
    const story = new Story(two, { blue: "canary", prod: "rest" });
    story.settle();
    story.commit("bad");
    runAndArrive(story, "canary");
    story.fail("blue");
    story.rings = rings("rings: [{ name: canary }, { name: empty }, { name: rest }]");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
    expect(story.told).toMatchObject({ empty: "no branch yet, waits for canary", rest: "waits for empty" });
  });
});

test("commits that somebody pushed to a ring's branch stop it and the later ones, and the others go on", () => {
  const story = fleet().push("early", "a fix by hand").commit("b");
  expect(story.run()).toEqual(["canary: a -> b"]);
  expect(story.told).toEqual({ canary: "arriving", early: "problem", rest: "stops behind early" });
  expect(story.next["early"]).toContain(`lacks: ${id("a fix by hand").slice(0, 7)} a fix by hand. Merge them`);
  story.arrive("canary").commit("c");
  expect(story.run()).toEqual(["canary: b -> c"]);
});
