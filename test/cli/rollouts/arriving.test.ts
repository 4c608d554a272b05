import { describe, expect, test } from "vitest";
import { id, rings, Story, threeHealthy, threeRings, withB } from "./support/story.ts";

const hour = 60;

describe("a spoke that is made while a ring has a commit", () => {
  const joined = (change: Parameters<Story["spoke"]>[1]) => {
    const story = withB();
    story.pass(30).spoke("new", { ring: "canary", ...change });
    return story;
  };
  const onItsWay = { isReady: false, phase: "Nodes" };

  test("does not hold the ring back", () => {
    const story = joined(onItsWay);
    expect(story.told["canary"]).toBe("soaking 30m of 1h");
    story.pass(30);
    expect(story.run()).toEqual(["early: a -> b"]);
  });

  test("does not begin the soak anew when it is there", () => {
    const story = joined(onItsWay);
    story.heal("new");
    expect(story.told["canary"]).toBe("soaking 30m of 1h");
  });

  test("stops the ring when it fails", () =>
    expect(joined({ isReady: false, phase: "Failing", message: "no network" }).told["canary"]).toBe(
      "stopped: 1 of 3 spokes is unhealthy (new): no network",
    ));

  test("does not stand for those that were there before, whatever share may be unhealthy", () => {
    const story = new Story("rings: [{ name: canary, maxUnavailable: 50% }, { name: rest }]", { blue: "canary" });
    story.run();
    story.fetch("canary").pass(1);
    for (const name of ["one", "two", "three"]) story.spoke(name, { ring: "canary", ...onItsWay });
    expect(story.next["canary"]).toBe("must arrive: blue");
  });

  test("must arrive when the ring has no other, and with the next commit", () => {
    const story = new Story("rings: [{ name: canary, soak: 1h }, { name: rest }]");
    story.settle();
    story.spoke("new", { ring: "canary", ...onItsWay });
    expect(story.told["canary"]).toMatch(/^arriving for /);
    const other = joined(onItsWay);
    other.pass(30);
    other.run();
    other.arrive("early");
    other.commit("c");
    other.run();
    other.arrive("canary", "new");
    expect(other.next["canary"]).toBe("must arrive: new");
  });
});

describe("while Flux applies once more what a ring had long before", () => {
  test.each(["on a spoke", "on the hub"])(
    "%s, the ring is not late, does not pass, and takes nothing newer",
    (where) => {
      const story = withB();
      story.pass(10_000);
      const { healthySince: _, ...rollout } = story.spokes.get("teal")?.rollout ?? {};
      if (where === "on a spoke") story.spoke("teal", { rollout: { ...rollout, next: `ring/canary@sha1:${id("b")}` } });
      const state = story.states.get("canary");
      if (state?.sync === undefined) throw new Error("the ring is not on the hub");
      if (where === "on the hub") story.states.set("canary", { ...state, sync: { ...state.sync, isCurrent: false } });
      story.commit("c");
      expect(story.run()).toEqual([]);
      expect(story.told["canary"]).toBe("applied once more, waits for early to take what it has");
      expect(story.decisions[0]?.health?.isLate).toBe(false);
    },
  );
});

describe("a ring that is arriving for longer than its deadline", () => {
  const late = (story: Story) => story.decisions[0]?.health?.isLate;
  const onItsWay = () => {
    const story = threeHealthy();
    story.commit("b").run();
    story.arrive("canary", "teal");
    return story;
  };

  test("is late, and still takes the newest", () => {
    const story = onItsWay();
    story.pass(4 * hour - 1);
    expect([late(story), story.told["canary"]]).toEqual([false, "arriving for 3h59m"]);
    story.pass(1);
    expect([late(story), story.told["canary"]]).toEqual([true, "arriving for 4h, which is late"]);
    story.commit("c");
    expect(story.run()).toEqual(["canary: b -> c"]);
    expect(late(story)).toBe(false);
  });

  test("is judged by its own deadline", () => {
    const story = onItsWay();
    story.rings = rings(threeRings.replace("{ name: canary,", "{ name: canary, deadline: 30m,"));
    story.pass(30);
    expect(late(story)).toBe(true);
  });

  test("is not late when a spoke got unready later, for an upgrade say", () => {
    const story = withB();
    story.pass(10_000).spoke("teal", { isReady: false, phase: "Upgrading", unreadySince: story.now });
    expect([late(story), story.told["canary"]]).toEqual([false, "arriving for 0s"]);
    story.pass(4 * hour);
    expect(late(story)).toBe(true);
  });

  test("is late when a spoke stays at an older revision of the Composition", () => {
    const story = withB();
    story.pass(4 * hour);
    story.spoke("teal", { rollout: { ...story.spokes.get("teal")?.rollout, composition: "spoke-canary-old" } });
    expect(late(story)).toBe(true);
  });

  test("is late when Flux can't fetch its branch for so long", () => {
    const story = threeHealthy();
    story.commit("b").run();
    const state = story.states.get("canary");
    if (state?.source === undefined) throw new Error("the ring is not on the hub");
    const failure = { message: "no access", since: story.now };
    story.states.set("canary", { ...state, source: { ...state.source, failure } });
    expect(late(story)).toBe(false);
    story.pass(4 * hour);
    expect(late(story)).toBe(true);
  });
});
