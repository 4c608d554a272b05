import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "../support/process.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "proof-steps-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** What vitest says of a file with these steps: the status of each by its name. */
function outcomes(steps: string): Record<string, string> {
  const module = join(root, "test", "aws", "steps.ts");
  writeFileSync(
    join(dir, "a.test.ts"),
    `import { proofSteps } from ${JSON.stringify(module)};\nconst { step, removal } = proofSteps();\n${steps}`,
  );
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const report = join(dir, "report.json");
  const args = [vitest, "run", "--root", dir, "--reporter", "json", "--outputFile", report];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (!existsSync(report)) throw new Error(stdout + stderr);
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
    testResults: { assertionResults: { title: string; status: string }[] }[];
  };
  return Object.fromEntries(
    testResults.flatMap(({ assertionResults }) => assertionResults.map(({ title, status }) => [title, status])),
  );
}

test("after a failed step what builds is skipped, and what removes runs all the same, each on its own", () => {
  const fails = "async () => { throw new Error('no') }";
  const works = "async () => {}";
  expect(
    outcomes(
      `step("first", ${works}); step("hub", ${fails}); step("spoke", ${works}); removal("of the spoke", ${fails}); removal("of the hub", ${works});`,
    ),
  ).toEqual({ first: "passed", hub: "failed", spoke: "skipped", "of the spoke": "failed", "of the hub": "passed" });
});

test("a step that isn't selected is skipped, and the next one runs", () => {
  const works = "async () => {}";
  expect(outcomes(`step("rollback", ${works}, false); step("removal", ${works});`)).toEqual({
    rollback: "skipped",
    removal: "passed",
  });
});
