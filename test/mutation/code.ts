import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Mutant } from "./score.ts";

/** Mutants of TypeScript, by StrykerJS. */

export interface CodeArea {
  /** Globs of the files that are changed. */
  readonly mutate: readonly string[];
  /** Globs of the tests that are asked: those of the area alone, so that a run takes minutes. */
  readonly tests: readonly string[];
}

/** What StrykerJS reports of a mutant (MutantResult of @stryker-mutator/api 10.1.1). */
interface Result {
  readonly fileName: string;
  readonly location: Readonly<Record<"start" | "end", { readonly line: number; readonly column: number }>>;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
}

/** StrykerJS: in packages that only `npm run test:mutation` installs, so tsc has no types of it. */
interface StrykerPackage {
  readonly Stryker: new (options: object) => { readonly runMutationTest: () => Promise<readonly Result[]> };
}
const strykerPackage: string = "@stryker-mutator/core";

const survived = new Set(["Survived", "NoCoverage"]);
const killed = new Set(["Killed", "Timeout"]);

const root = join(import.meta.dirname, "..", "..");

function toMutant({ fileName, location, mutatorName, replacement, status }: Result): Mutant {
  const { start, end } = location;
  const lines = readFileSync(fileName, "utf8").split("\n");
  const first = lines[start.line - 1] ?? "";
  const was =
    start.line === end.line ? first.slice(start.column - 1, end.column - 1) : `${first.slice(start.column - 1)} ...`;
  return {
    file: relative(root, fileName),
    line: start.line,
    what: `${mutatorName}: ${was} -> ${replacement}`,
    survived: survived.has(status),
  };
}

/** Every n-th line of the files, as StrykerJS names ranges; what is longer than a line is then left out. */
function sampled(globs: readonly string[], every: number): string[] {
  if (every === 1) return [...globs];
  const exclude = globs.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  const files = globSync(
    globs.filter((glob) => !glob.startsWith("!")),
    { cwd: root, exclude },
  ).sort();
  const lines = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .map((_, index) => `${file}:${index + 1}-${index + 1}`),
  );
  return lines.filter((_, index) => index % every === 0);
}

/**
 * Changes the code, or every n-th line of it, and asks the tests. Mutants that make no program, or only other words, are left out.
 */
export const codeMutants =
  (area: CodeArea) =>
  (every: number): Promise<Mutant[]> =>
    askedBy(area, every);

async function askedBy({ mutate, tests }: CodeArea, every: number): Promise<Mutant[]> {
  process.env["MUTATION_TESTS"] = JSON.stringify(tests);
  const { Stryker } = (await import(strykerPackage)) as StrykerPackage;
  const results = await new Stryker({
    testRunner: "vitest",
    vitest: { configFile: "test/mutation/vitest.config.ts" },
    coverageAnalysis: "perTest",
    mutate: sampled(mutate, every),
    plugins: ["@stryker-mutator/vitest-runner", "./test/mutation/messages.ts"],
    ignorers: ["messages"],
    ignorePatterns: [".local"],
    // Outside of the project, where nothing else looks into it.
    tempDirName: join(tmpdir(), "fleet-mutation"),
    reporters: ["progress-append-only"],
    // StrykerJS counts a timeout as a killed mutant: on a busy machine its 5 s would make a score of the load.
    timeoutMS: 120_000,
    // The tests of fleet check run kustomize hundreds of times; StrykerJS gives a first run 5 minutes.
    dryRunTimeoutMinutes: 30,
    warnings: { slow: false, unknownOptions: true, preprocessorErrors: true, unserializableOptions: true },
    thresholds: { break: null },
    allowConsoleColors: false,
  }).runMutationTest();
  return results.filter(({ status }) => survived.has(status) || killed.has(status)).map(toMutant);
}
