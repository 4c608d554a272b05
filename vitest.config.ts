import { defineConfig } from "vitest/config";
import InOrder from "./test/e2e/support/order.ts";

/** `unit` needs nothing but npm packages; `e2e` runs one after another on an embedded cloud of its own. */
export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**"],
          // Loading the AWS SDK alone can take longer than vitest's 5 s while the machine is busy.
          testTimeout: 60_000,
          // vitest leaves half of the processors idle by default.
          maxWorkers: "100%",
          // Not 0: vitest would put a group 0 with a single worker last.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/e2e/support/cloud.ts"],
          fileParallelism: false,
          // After the unit tests: both at once would make each other slow on a small machine.
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 1_800_000,
        },
      },
    ],
  },
});
