import { defineConfig } from "vitest/config";

/** `unit` needs nothing but npm packages; `e2e` runs one after another on an embedded cloud of its own. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/e2e/**"] } },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/e2e/support/cloud.ts"],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
