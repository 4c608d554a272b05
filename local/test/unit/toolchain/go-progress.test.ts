import { expect, test } from "vitest";
import { GoProgress } from "../../../toolchain/go-progress.ts";

const MINUTE = 60_000;
const work = [
  { id: "small", weight: 10 },
  { id: "large", weight: 70 },
  { id: "program", weight: 20 },
];

test("a build says how much is done by what it costs, and how long the rest takes at the speed so far", () => {
  let now = 0;
  const progress = new GoProgress(work, () => now);
  expect(String(progress)).toBe("0 % compiled");
  now = MINUTE;
  progress.done("small");
  expect(String(progress)).toBe("10 % compiled, about 9 min left");
  now = 8 * MINUTE;
  progress.done("large");
  expect(String(progress)).toBe("80 % compiled, about 2 min left");
});

test("what an earlier run did counts as done, but not as this machine's speed", () => {
  let now = 0;
  const progress = new GoProgress(work, () => now);
  progress.done("large", "before");
  expect(String(progress)).toBe("70 % compiled");
  now = MINUTE;
  progress.done("small");
  expect(String(progress)).toBe("80 % compiled, about 2 min left");
});

test("what two groups need is counted once, and done once", () => {
  let now = 0;
  const progress = new GoProgress([...work, { id: "large", weight: 70 }], () => now);
  now = 7 * MINUTE;
  progress.done("large");
  progress.done("large");
  progress.done("of no group");
  expect(String(progress)).toBe("70 % compiled, about 3 min left");
});

test("no time is told before the speed is known", () => {
  const progress = new GoProgress([...work, { id: "tiny", weight: 1 }], () => MINUTE);
  progress.done("tiny");
  expect(String(progress)).toBe("0 % compiled");
});
