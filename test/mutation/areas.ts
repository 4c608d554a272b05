import { codeMutants } from "./code.ts";
import { grantMutants } from "./grants.ts";
import { definitionMutants, policyMutants } from "./rules.ts";
import type { Mutant } from "./score.ts";

/** What is changed, and which tests are asked: those of the area alone, so that it takes minutes. */

/** @param every 1 for all mutants; n for an estimate by every n-th line or mutant, where all take long */
export type Area = (every: number) => Mutant[] | Promise<Mutant[]>;

/** Areas by their names, the quick ones first. */
export const areas: Readonly<Record<string, Area>> = {
  admission: policyMutants,
  definition: definitionMutants,
  infra: codeMutants({
    mutate: ["infra/rules.ts", "infra/endpoint-rules.ts", "infra/git-rules.ts", "infra/network-rules.ts"],
    tests: ["test/infra/{config,rules}.test.ts"],
  }),
  grants: grantMutants,
  // mutation.test.ts makes mutants of its own, of files that StrykerJS has rewritten.
  policies: codeMutants({
    mutate: ["policies/**/*.ts"],
    tests: ["test/policies/{examples,lib,pack,program,unknown}.test.ts"],
  }),
  iam: codeMutants({
    mutate: ["lib/iam/**/*.ts"],
    tests: ["test/lib/iam/**/*.test.ts", "test/scripts/generate.test.ts"],
  }),
  check: codeMutants({
    mutate: ["cli/check/**/*.ts", "cli/render/**/*.ts"],
    tests: ["test/cli/{check,render}/**/*.test.ts"],
  }),
  spoke: codeMutants({
    mutate: ["functions/spoke/**/*.ts", "!functions/spoke/main.ts"],
    tests: ["test/functions/spoke/**/*.test.ts"],
  }),
};
