import { expect, test } from "vitest";
import { closingLines, type Ending, exitCode, type Part, runPhases } from "../../../cli/test-parts.ts";

const part = (name: string, ending: Ending | Error, more: Partial<Part> = {}): Part => ({
  name,
  covers: `the ${name}`,
  run: async () => {
    if (ending instanceof Error) throw ending;
    return ending;
  },
  ...more,
});
const results = { passed: 3, failed: 1, skipped: 0, failures: [{ where: "a.test.ts", errors: [{ message: "no" }] }] };
const states = (parts: Awaited<ReturnType<typeof runPhases>>) =>
  parts.map(({ name, ending }) => `${name} ${ending?.code ?? "-"}`);

test("a failed part does not stop the parts after it, and the run fails", async () => {
  const said: string[] = [];
  const parts = await runPhases([[[part("check", { code: 1 }), part("unit", { code: 0 })]]], (line) => said.push(line));
  expect(states(parts)).toEqual(["check 1", "unit 0"]);
  expect(exitCode(parts)).toBe(1);
  expect(said).toEqual(["\n=== check: the check", "\n=== unit: the unit"]);
});

test("no part starts after a required one that failed, and its error is printed", async () => {
  const said: string[] = [];
  const required = part("toolchain", new Error("no space left"), { isRequired: true });
  const parts = await runPhases([[[part("unit", { code: 0 }), required]], [[part("story", { code: 0 })]]], (line) =>
    said.push(line),
  );
  expect(states(parts)).toEqual(["unit 0", "toolchain 1", "story -"]);
  expect(said).toContain("toolchain: no space left");
  expect(exitCode(parts)).toBe(1);
});

test.each([129, 130, 143])("no part starts after an interrupt (exit code %i)", async (code) => {
  const parts = await runPhases([[[part("unit", { code }), part("story", { code: 0 })]]], () => {});
  expect(states(parts)).toEqual([`unit ${code}`, "story -"]);
  expect(closingLines(parts)).toContainEqual(expect.stringMatching(/^unit +interrupted /));
  expect(exitCode(parts)).toBe(130);
});

test("the lists of a phase run side by side, and the results keep their order", async () => {
  const second = Promise.withResolvers<void>();
  const first = part("e2e", { code: 0 }, { run: async () => second.promise.then(() => ({ code: 0 })) });
  const resolving = async () => {
    second.resolve();
    return { code: 0 };
  };
  const other = part("envtest", { code: 0 }, { run: resolving });
  expect(states(await runPhases([[[first], [other]]], () => {}))).toEqual(["e2e 0", "envtest 0"]);
});

test("the closing lines list each failed test, then each part with result, time and number of tests", () => {
  expect(
    closingLines([
      { name: "check", ending: { code: 0 }, milliseconds: 4200 },
      { name: "unit", ending: { code: 1, results }, milliseconds: 61_000 },
      { name: "story", ending: undefined, milliseconds: 0 },
    ]),
  ).toEqual([
    "FAILED a.test.ts",
    "    no",
    "",
    "check  passed   4 s",
    "unit   FAILED   1 min 1 s  3 passed, 1 failed",
    "story  not run",
  ]);
});
