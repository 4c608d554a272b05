import { describe, expect, test } from "vitest";
import { threeHealthy as fleet, id, runAndArrive } from "./support/story.ts";

describe("a change that was taken back", () => {
  /** Canary has had bad for so long; it hurts, though nobody's health check sees it. */
  const seen = (minutes: number) => {
    const story = fleet().commit("bad");
    runAndArrive(story, "canary");
    story.pass(minutes);
    return story;
  };

  test("while a ring soaks it goes no further: the ring takes the revert at once", () => {
    const story = seen(30);
    story.commit("revert", "a");
    expect(runAndArrive(story, "canary")).toEqual(["canary: bad -> revert"]);
    expect(story.told["early"]).toBe("up to date");
    story.pass(60);
    expect(story.run()).toEqual([]);
  });

  test("goes no further when it has soaked at the same moment", () => {
    const story = seen(60);
    story.commit("revert", "a");
    expect(story.told["early"]).toBe(`does not take ${id("bad").slice(0, 7)}`);
    expect(story.next["early"]).toBe("nothing waits: those before it went back to what it has");
    expect(story.run()).toEqual(["canary: bad -> revert"]);
  });

  test("goes no further when other changes followed the revert", () => {
    const story = seen(30);
    story.commit("revert", "a").commit("c");
    expect(runAndArrive(story, "canary")).toEqual(["canary: bad -> c"]);
    story.pass(60);
    expect(story.run()).toEqual(["early: a -> c"]);
  });

  test("does not go from the second ring to the third", () => {
    const story = seen(60);
    runAndArrive(story, "early");
    story.commit("revert", "a");
    expect(runAndArrive(story, "canary")).toEqual(["canary: bad -> revert"]);
    story.pass(24 * 60);
    expect(story.told["rest"]).toBe(`does not take ${id("bad").slice(0, 7)}`);
    expect(runAndArrive(story, "early")).toEqual(["early: bad -> revert"]);
    expect(story.run()).toEqual([]);
    expect(story.tips.get("rest")).toBe(id("a"));
  });

  test("with one that is before it leaves nothing for the rings between", () => {
    const story = seen(60);
    runAndArrive(story, "early");
    story.commit("worse");
    runAndArrive(story, "canary");
    story.pass(60).commit("revert of both", "a");
    expect(story.told["early"]).toBe(`soaking 1h of 24h, does not take ${id("worse").slice(0, 7)}`);
    expect(runAndArrive(story, "canary")).toEqual(["canary: worse -> revert of both"]);
    expect(story.told["early"]).toBe("soaking 1h of 24h, waits for canary");
  });

  test("goes on when it was brought again", () => {
    const story = seen(30);
    story.commit("revert", "a").commit("again", "bad");
    expect(story.told["canary"]).toBe("soaking 30m of 1h");
    story.pass(30);
    expect(story.run()).toEqual(["early: a -> bad"]);
  });
});
