import { expect, test } from "vitest";
import { nextStep } from "../../../cli/rotation/plan.ts";

const dates = { made: new Date(0), expires: new Date(0) };

test.each([
  ["1", "2"],
  ["9", "10"],
  ["2026-09", "2026-10"],
  ["first", "first-2"],
])("after generation %s of a sealing key comes %s", (generation, next) => {
  const standing = {
    scope: "dev",
    listed: [{ scope: "dev", generation, active: true }],
    made: [{ scope: "dev", generation, isActive: true, certificate: "", fingerprint: "", ...dates }],
    ...{ former: [], inGit: [generation] },
    sealed: [],
  };
  const wish = { begin: true, ignoresUnknown: false };
  expect(nextStep(standing, wish)).toEqual({ kind: "add", generation: next });
});
