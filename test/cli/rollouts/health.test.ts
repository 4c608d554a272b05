import { describe, expect, test } from "vitest";
import type { SourceState, SyncState } from "../../../cli/rollouts/state.ts";
import { id, rings, Story, threeHealthy, threeRings, withB } from "./support/story.ts";

const hour = 60;

describe("maxUnavailable", () => {
  const arrived = (without: string[], policy = threeRings) => {
    const story = withB(policy);
    story.pass(hour).run();
    story.arrive("early", ...without);
    return story;
  };

  test("lets a share of the spokes be unhealthy, rounded down", () => {
    const story = arrived(["early-0"]);
    story.fail("early-0").pass(24 * hour);
    expect(story.run()).toEqual(["rest: a -> b"]);
  });

  test("is exceeded by one more", () => {
    const story = arrived(["early-0", "early-1"]);
    story.fail("early-0").fail("early-1", "another reason");
    expect(story.told["early"]).toBe("stopped: 2 of 10 spokes are unhealthy (early-0, early-1): the step tools fails");
  });

  test("of nine spokes and 10% is none", () => {
    const [, early] = rings(threeRings);
    expect([early?.allows(9), early?.allows(10), early?.allows(19), early?.allows(20)]).toEqual([0, 1, 1, 2]);
  });

  test("counts a spoke that is still arriving as neither healthy nor unhealthy", () => {
    const story = arrived(["early-0", "early-1", "early-2"]);
    expect(story.told["early"]).toBe("arriving for 0s");
    expect(story.next["early"]).toBe("must arrive: early-0, early-1, early-2");
    story.pass(10_000);
    expect(story.run()).toEqual([]);
  });

  test.each(["100%", "10", "2"])("of %s lets no ring pass without one healthy spoke", (most) => {
    const policy = threeRings.replace("{ name: canary,", `{ name: canary, maxUnavailable: ${most},`);
    const story = threeHealthy(policy);
    story.commit("b").run();
    story.fetch("canary").pass(10_000);
    expect(story.run()).toEqual([]);
    expect(story.told["canary"]).toMatch(/^arriving for /);
    story.fail("blue").fail("teal");
    expect(story.told["canary"]).toMatch(/^stopped: 2 of 2 spokes are unhealthy/);
    story.heal("blue").pass(hour);
    expect(story.run()).toEqual(["early: a -> b"]);
  });
});

describe("a spoke has what its ring has", () => {
  /** The state of canary when one of its spokes is changed. */
  const stateWith = (change: Parameters<Story["spoke"]>[1]) => {
    const story = withB();
    const rollout = story.spokes.get("teal")?.rollout ?? {};
    story.spoke("teal", { ...change, rollout: { ...rollout, ...change.rollout } });
    return story.told["canary"];
  };

  test.each<[string, Parameters<Story["spoke"]>[1]]>([
    ["another revision", { rollout: { revision: `ring/canary@sha1:${id("a")}` } }],
    ["a revision of another ring", { rollout: { revision: `ring/early@sha1:${id("b")}` } }],
    [
      "a revision on its way",
      { rollout: { revision: `ring/canary@sha1:${id("a")}`, next: `ring/canary@sha1:${id("b")}` } },
    ],
    ["an older revision of the Composition", { rollout: { composition: "spoke-canary-old" } }],
    [
      "a failure of what it had before",
      { isReady: false, phase: "Failing", rollout: { revision: `ring/canary@sha1:${id("a")}` } },
    ],
    ["nodes that are being replaced", { isReady: false, phase: "Upgrading" }],
    ["not been made yet", { isReady: false, phase: "Network", rollout: {} }],
  ])("but not when it has %s", (_, change) => expect(stateWith(change)).toBe("arriving for 0s"));

  test.each<[string, Parameters<Story["spoke"]>[1], string]>([
    ["fails", { isReady: false, phase: "Failing", message: "nodes fail" }, "nodes fail"],
    ["is refused", { isReady: false, phase: "Refused" }, "Refused"],
    ["is not Ready for another reason", { isReady: false }, "is not Ready"],
    [
      "is not run by its Composition",
      { unsynced: "Crossplane does not run it (paused)" },
      "Crossplane does not run it (paused)",
    ],
  ])("and is unhealthy when it %s", (_, change, reason) =>
    expect(stateWith(change)).toBe(`stopped: 1 of 2 spokes is unhealthy (teal): ${reason}`),
  );

  describe("of the Composition's revisions", () => {
    const channel = (name: string, on = true) => ({ [`channel.fleet.internal/${name}`]: String(on) });
    /** The state of canary, whose newest revision is for dev only, with a spoke that has a revision. */
    const stateAt = (composition: string, takes: Readonly<Record<string, string>> | undefined) => {
      const story = withB();
      const state = story.states.get("canary");
      if (state === undefined) throw new Error("the ring is not on the hub");
      const revisions = [
        { name: "for-dev", labels: { ...channel("dev"), ...channel("prod", false) } },
        { name: "for-all", labels: { ...channel("dev"), ...channel("prod") } },
        { name: "former", labels: { ...channel("dev"), ...channel("prod") } },
      ];
      story.states.set("canary", { ...state, revisions });
      const rollout = story.spokes.get("blue")?.rollout;
      story.spoke("blue", { takes: channel("dev"), rollout: { ...rollout, composition: "for-dev" } });
      story.spoke("teal", { takes, rollout: { ...rollout, composition } });
      return story.told["canary"];
    };

    test("is the newest that its channel has", () => {
      expect(stateAt("for-all", channel("prod"))).toBe("soaking 0s of 1h");
      expect(stateAt("former", channel("prod"))).toBe("arriving for 0s");
      expect(stateAt("for-all", channel("dev"))).toBe("arriving for 0s");
      expect(stateAt("for-all", {})).toBe("arriving for 0s");
    });

    test("is the one that a person chose, where the Spoke says so", () =>
      expect(stateAt("former", undefined)).toBe("soaking 0s of 1h"));
  });
});

describe("a ring has its commit on the hub", () => {
  /** The state of canary, which has all of b, when what Flux says of it is changed. */
  const tellAfter = (sync: Partial<SyncState>, source: Partial<SourceState> = {}) => {
    const story = withB();
    const state = story.states.get("canary");
    if (state?.sync === undefined || state.source === undefined) throw new Error("the ring is not on the hub");
    story.states.set("canary", { ...state, sync: { ...state.sync, ...sync }, source: { ...state.source, ...source } });
    return { state: story.told["canary"], next: story.next["canary"] };
  };
  const failed = { status: "False", message: "it says why" };
  const former = `ring/canary@sha1:${id("a")}`;
  const untried = { attempted: former, applied: former };

  test("only once Flux has applied the ring's Composition", () => {
    for (const change of [untried, { applied: former, status: "Unknown" }, { ...untried, isCurrent: false }])
      expect(tellAfter(change)).toEqual({
        state: "arriving for 0s",
        next: "must arrive: Flux applies its Composition",
      });
  });

  test.each([true, false])(
    "and stops when it can't be applied, whether or not Flux took note of its specification: %s",
    (isCurrent) =>
      expect(tellAfter({ ...failed, reason: "BuildFailed", isCurrent, applied: former }).state).toBe(
        "stopped: its Composition can't be applied: it says why",
      ),
  );

  test("and not with why an earlier commit could not be applied", () =>
    expect(tellAfter({ ...failed, ...untried, reason: "BuildFailed" }).next).toBe(
      "must arrive: Flux applies its Composition",
    ));

  test.each(["ArtifactFailed", "DependencyNotReady"])("and says why Flux has not tried it: %s", (reason) =>
    expect(tellAfter({ ...failed, ...untried, reason }).next).toBe(
      "must arrive: Flux can't apply its Composition yet: it says why",
    ),
  );

  test("and says why Flux can't fetch it", () => {
    const failure = { message: "no such branch", since: undefined };
    expect(tellAfter(untried, { revision: former, failure }).next).toBe(
      "must arrive: Flux can't fetch its branch: no such branch",
    );
  });

  test("also while Flux applies the Composition once more, or waits for another step of the hub", () => {
    expect(tellAfter({ status: "Unknown" }).state).toBe("soaking 0s of 1h");
    expect(tellAfter({ ...failed, reason: "DependencyNotReady" }).state).toBe("soaking 0s of 1h");
  });

  test("not before the hub has a Kustomization for the ring", () => {
    const story = withB();
    story.states.delete("canary");
    expect(story.next["canary"]).toBe("must arrive: the hub has no Kustomization for it yet");
  });

  test("also without spokes", () => {
    const story = new Story("rings: [{ name: empty }, { name: rest }]");
    story.settle();
    story.commit("b").run();
    expect(story.told["empty"]).toBe("arriving");
    expect(story.run()).toEqual([]);
    story.fetch("empty");
    expect(story.next["empty"]).toBe("nothing waits; without spokes it passes at once");
    expect(story.run()).toEqual(["rest: a -> b"]);
  });
});

test("a hub whose Crossplane does not run lets no ring pass, and no ring starts anew for it", () => {
  const story = withB();
  story.pass(hour);
  story.frozen = "the hub's Crossplane does not run: it says why";
  expect([story.told["canary"], story.next["canary"]]).toEqual(["can't be judged", story.frozen]);
  story.commit("c");
  expect(story.run()).toEqual([]);
  story.frozen = undefined;
  expect(story.run()).toEqual(["early: a -> b"]);
});
