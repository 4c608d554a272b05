import { defineConfig } from "vitest/config";
import { patience } from "../support/patience.ts";

/** What StrykerJS runs: the tests of one area, whose globs main.ts hands down. */
export default defineConfig({ test: { include: JSON.parse(process.env["MUTATION_TESTS"] ?? "[]"), ...patience } });
