import { defineConfig } from "vitest/config";

/** What StrykerJS runs: the tests of one area, whose globs main.ts hands down. */
export default defineConfig({
  test: {
    include: (process.env["MUTATION_TESTS"] ?? "").split(","),
    testTimeout: 60_000,
  },
});
