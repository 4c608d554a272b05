// `npm test`: the machine, the toolchain, what only tests run, then all tests. Arguments go to vitest.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../instance/index.ts";
import { CHECKOUT } from "../product-paths.ts";
import { main } from "./command.ts";
import { newLocalFleet } from "./fleet.ts";
import { foreground } from "./foreground.ts";
import { interruptible } from "./interruptible.ts";
import { runSteps } from "./steps.ts";
import { temporaryFolder } from "./temporary.ts";
import { closingLines, RESULTS_FILE, type TestResults } from "./test-results.ts";
import { testToolsStep } from "./test-tools.ts";

/** The projects of vitest.config.ts that a run without a choice is made of. */
const DEFAULT_PROJECTS = ["unit", "integration", "e2e"].map((name) => `--project=${name}`);

/** Runs vitest to its end and gives its exit code, 130 when it was interrupted; its results go into a file. */
function vitest(args: readonly string[], dir: string, results: string): Promise<number> {
  const own = ["file-times.ts", "test-results.ts"].map((file) => join(import.meta.dirname, file));
  const reporters = ["default", ...own].map((reporter) => `--reporter=${reporter}`);
  const projects = args.some((argument) => argument.startsWith("--project")) ? [] : DEFAULT_PROJECTS;
  const program = join(CHECKOUT, "node_modules", "vitest", "vitest.mjs");
  const argv = [process.execPath, program, "run", ...reporters, ...projects, ...args] as const;
  return foreground(argv, { cwd: CHECKOUT, env: { ...process.env, FLEET_TEST_DIR: dir, [RESULTS_FILE]: results } });
}

await main(async () => {
  const folder = await temporaryFolder("fleet-tests", "local");
  // Of their own, beside the instance that a person uses.
  const dir = join(folder, "instance");
  const results = join(folder, "results.json");
  const { machineSteps } = newLocalFleet(dir, "local");
  const code = await interruptible(folder, "local", async () => {
    await runSteps([...machineSteps, testToolsStep], undefined, dir);
    return vitest(process.argv.slice(2), dir, results);
  });
  const closing = closingLines(await readJson<TestResults>(results));
  // Kept on purpose, it still runs: cloud.ts.
  if (process.env["FLEET_TEST_KEEP"] === "1") console.log(`The tests' instance stays in ${dir}`);
  else if (code === 0) await rm(folder, { recursive: true, force: true });
  else if (existsSync(join(dir, "logs")))
    console.log(`The run ended with exit code ${code}; the logs of the tests' instance are in ${join(dir, "logs")}`);
  console.log(closing.join("\n"));
  return code;
});
