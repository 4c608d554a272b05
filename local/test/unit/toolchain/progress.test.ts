import { expect, test } from "vitest";
import { clock, progressLine, Reporter } from "../../../toolchain/progress.ts";

test("a line says how long, which part of how many, what, and how far", () => {
  const line = { elapsedMs: 187_400, part: 3, parts: 7, what: "Go programs", detail: "12 of 90 packages" };
  expect(progressLine(line)).toBe("[ 3:07] toolchain 3/7 Go programs: 12 of 90 packages");
});

test("a line without detail has no colon", () => {
  expect(progressLine({ elapsedMs: 0, part: 1, parts: 1, what: "images", detail: "" })).toBe(
    "[ 0:00] toolchain 1/1 images",
  );
});

test.each([
  [0, " 0:00"],
  [59_999, " 0:59"],
  [60_000, " 1:00"],
  [3_600_000, "60:00"],
])("%i ms reads %s", (ms, text) => expect(clock(ms)).toBe(text));

test("parts are counted, and each says when it is ready", async () => {
  const lines: string[] = [];
  const report = new Reporter(2, (line) => lines.push(line.replace(/^\[.*?\] /, "")));
  expect(await report.part("one", async () => 1)).toBe(1);
  await report.part("two", async (say) => say("not yet due"));
  expect(lines).toEqual(["toolchain 1/2 one: ready", "toolchain 2/2 two: ready"]);
});

test("a part that fails is not called ready", async () => {
  const lines: string[] = [];
  const report = new Reporter(1, (line) => lines.push(line));
  await expect(report.part("one", () => Promise.reject(new Error("no disk")))).rejects.toThrow("no disk");
  expect(lines).toEqual([]);
});
