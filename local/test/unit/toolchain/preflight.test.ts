import { describe, expect, test } from "vitest";
import { compare } from "../../../product.ts";
import { type BuildTools, goNeeded, toolProblems } from "../../../toolchain/preflight.ts";

const fit: BuildTools = {
  go: "go1.26.8",
  python: "Python 3.11.2",
  git: "git version 2.39.5",
  venv: true,
  overlayProblem: undefined,
};

test("tools that are new enough have no problems", () => expect(toolProblems(fit, "1.26.8")).toEqual([]));

describe("every problem says what is needed, what was found and what to do", () => {
  test.each<[string, Partial<BuildTools>, RegExp]>([
    ["an old Go", { go: "go1.26.7\n" }, /^Go 1\.26\.8 or newer is needed, found "go1\.26\.7": install a newer one/],
    ["an old Python", { python: "Python 3.9.2" }, /^Python 3\.10 or newer is needed, found "Python 3\.9\.2"/],
    ["an old git", { git: "git version 2.11.0" }, /^git 2\.38 or newer is needed/],
    ["no virtual environments", { venv: false }, /ensurepip.*python3-venv/],
    ["no overlay mounts", { overlayProblem: "mount: wrong fs type" }, /mount: wrong fs type.*FLEET_LOCAL_DIR/],
  ])("%s", (_, change, message) =>
    expect(toolProblems({ ...fit, ...change }, "1.26.8")).toEqual([expect.stringMatching(message)]),
  );

  test("all of them at once", () =>
    expect(toolProblems({ ...fit, go: "go1.20", python: "Python 3.8.0" }, "1.26.8")).toHaveLength(2));
});

test("a tool that isn't installed is not judged by its version", () =>
  expect(toolProblems({ ...fit, go: undefined, python: undefined, git: undefined, venv: false }, "1.26.8")).toEqual(
    [],
  ));

test("versions compare by number, not by text", () => {
  expect(compare("go1.9", "1.26")).toBeLessThan(0);
  expect(compare("go1.26.10", "go1.26.9")).toBeGreaterThan(0);
  expect(compare("2.39", "git version 2.39.0")).toBe(0);
});

test("the Go that is needed is the newest that a module asks for", () => expect(goNeeded()).toBe("1.26.8"));
