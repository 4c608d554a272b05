import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countsOf, failureLines, RESULTS_FILE, type TestResults } from "../../../cli/test-results.ts";
import { CHECKOUT } from "../../../product-paths.ts";
import { scratch } from "../../support/scratch.ts";

test("a run of vitest ends with what failed: tests with the difference, hooks and files with their errors", () => {
  const folder = scratch("fleet-test-results-");
  symlinkSync(join(CHECKOUT, "node_modules"), join(folder, "node_modules"));
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
  file("vitest.config.mjs", "export default {};");
  file(
    "a.test.mjs",
    `import { beforeAll, describe, expect, test } from "vitest";
     test("passes", () => {});
     test.skip("is left out", () => {});
     test("differs", () => expect({ spoke: "blue", isWell: false }).toMatchObject({ isWell: true }));
     describe("a group", () => { beforeAll(() => { throw new Error("no hub"); }); test("never runs", () => {}); });`,
  );
  file("b.test.mjs", 'throw new Error("not to be loaded");');
  const results = join(folder, "results.json");
  const reporter = `--reporter=${join(CHECKOUT, "local", "cli", "test-results.ts")}`;
  const vitest = join(CHECKOUT, "node_modules", "vitest", "vitest.mjs");
  const { status, stderr } = spawnSync(process.execPath, [vitest, "run", "--root", folder, reporter], {
    encoding: "utf8",
    env: { ...process.env, [RESULTS_FILE]: results },
  });
  expect(status, stderr).toBe(1);
  const read = JSON.parse(readFileSync(results, "utf8")) as TestResults;
  const said = failureLines(read);
  expect(countsOf(read)).toBe("1 passed, 1 failed, 2 skipped");
  expect(said.filter((line) => !line.startsWith(" "))).toEqual([
    "FAILED a.test.mjs > a group",
    "FAILED a.test.mjs > differs",
    "FAILED b.test.mjs",
  ]);
  for (const line of [
    /^ +- +"isWell": true,$/,
    /^ +\+ +"isWell": false,$/,
    /Error: no hub$/,
    /Error: not to be loaded$/,
  ])
    expect(said).toContainEqual(expect.stringMatching(line));
});
