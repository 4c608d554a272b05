import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepDurations, lastDurations, timeLeft } from "../../../cli/time-left.ts";
import { scratch } from "../../support/scratch.ts";

const durations = { a: 60_000, c: 30_000 };

test("the time left is the rest of what runs and all that comes after it", () => {
  expect(timeLeft(durations, ["a", "b", "c"], 20_000)).toBe(70_000);
});

test("a step that takes longer than before makes nothing else shorter, and one without a duration counts for nothing", () => {
  expect(timeLeft(durations, ["a", "c"], 90_000)).toBe(30_000);
  expect(timeLeft(durations, ["b", "c"], 90_000)).toBe(30_000);
});

test("a start of an instance that exists is told from one that makes it", async () => {
  const root = scratch("fleet-times-");
  expect(await lastDurations(root, "existing")).toBeUndefined();
  expect(await lastDurations(root, "new")).not.toEqual({});
  await keepDurations(root, "existing", new Map([["a", 1000]]));
  await keepDurations(
    root,
    "new",
    new Map([
      ["prepare the toolchain", 400_000],
      ["a", 2000],
    ]),
  );
  expect(await lastDurations(root, "existing")).toEqual({ a: 1000 });
  expect(await lastDurations(root, "new")).toEqual({ a: 2000 });
});

test("what was kept and can't be read is nothing, and is written anew", async () => {
  const root = scratch("fleet-times-");
  await writeFile(join(root, "step-times.json"), "{");
  expect(await lastDurations(root, "existing")).toBeUndefined();
  await keepDurations(root, "existing", new Map([["a", 1000]]));
  expect(await lastDurations(root, "existing")).toEqual({ a: 1000 });
});
