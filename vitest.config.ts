import { defineConfig } from "vitest/config";

/** `unit` needs nothing but npm packages; `e2e` runs one after another on an embedded cloud of its own. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/e2e/**"], sequence: { groupOrder: 0 } } },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/e2e/support/cloud.ts"],
          fileParallelism: false,
          // After the unit tests: both at once would make each other slow on a small machine.
          sequence: { groupOrder: 1 },
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
