import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../instance/index.ts";
import { CHECKOUT } from "../product-paths.ts";
import { foreground } from "./foreground.ts";
import type { Ending, Part } from "./test-parts.ts";
import { RESULTS_FILE, type TestResults } from "./test-results.ts";

/** Where vitest runs. */
export interface VitestOptions {
  /** Directory of the tests' instance. Next to it, vitest writes its results. */
  readonly dir: string;
  /** Starts each line of its output, to distinguish runs that share a terminal; undefined gives it the terminal. */
  readonly prefix?: string | undefined;
}

/** Runs vitest to its end. `args` choose projects and files. */
export async function vitest(args: readonly string[], { dir, prefix }: VitestOptions): Promise<Ending> {
  const results = `${dir}.${randomUUID()}.json`;
  const own = ["file-times.ts", "test-results.ts"].map((file) => join(import.meta.dirname, file));
  const reporters = ["default", ...own].map((reporter) => `--reporter=${reporter}`);
  const program = join(CHECKOUT, "node_modules", "vitest", "vitest.mjs");
  const argv = [process.execPath, program, "run", ...reporters, ...args] as const;
  const env = { ...process.env, FLEET_TEST_DIR: dir, [RESULTS_FILE]: results };
  const code = await foreground(argv, { cwd: CHECKOUT, env, prefix });
  try {
    return { code, results: await readJson<TestResults>(results) };
  } finally {
    await rm(results, { force: true });
  }
}

/** The part that runs a project of vitest.config.ts. */
export const projectPart = (name: string, covers: string, options: VitestOptions): Part => ({
  name,
  covers,
  run: () => vitest([`--project=${name}`], options),
});
