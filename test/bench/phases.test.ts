import { describe, expect, test } from "vitest";
import { phaseOf } from "../../bench/phases.ts";

describe("phaseOf", () => {
  test.each([
    ["[ 9/21] bring up the hub: pulumi up: done in 1 min 6 s", "bring up the hub: pulumi up", "1 min 6 s"],
    ["        [ 8:05] toolchain 2/7 Go programs (main): ready", "toolchain 2/7 Go programs (main)", "until 8:05"],
    ["story        FAILED  6 min 41 s  4 passed, 1 failed", "story (FAILED)", "6 min 41 s"],
    ["check        passed  48 s", "check (passed)", "48 s"],
  ])("reads %j", (line, name, time) => expect(phaseOf(line)).toEqual({ name, time }));

  test.each([
    "[ 9/21] bring up the hub: pulumi up",
    "        [ 8:05] toolchain 2/7 Go programs: 62 % compiled",
    "story        not run",
  ])("ignores %j", (line) => expect(phaseOf(line)).toBeUndefined());
});
