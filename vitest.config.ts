import { defineConfig } from "vitest/config";
import InOrder from "./test/e2e/support/order.ts";
import { patience } from "./test/support/patience.ts";

const e2e = "test/e2e/**/*.test.ts";
const envtest = "test/envtest/**/*.test.ts";
const emulator = "local/test/e2e/**/*.test.ts";
const story = "test/story/**/*.test.ts";
const long = "test/{e2e,envtest}/**/*.long.test.ts";
const onAws = "test/aws/**/*.aws.test.ts";

/** test/mutation has packages of its own. */
const installed = "test/mutation/node_modules/**";

const integration = ["test/**/*.integration.test.ts", "local/test/unit/**/*.integration.test.ts"];

const inParallel = {
  ...patience,
  // One process for many files: each loads what it needs once, not once for each file.
  isolate: false,
  globalSetup: ["test/support/scratch.ts"],
  // vitest leaves half of the processors idle by default.
  maxWorkers: "100%",
  // Not 0: vitest would put a group 0 with a single worker last.
  sequence: { groupOrder: 1 },
};

const oneByOne = { fileParallelism: false, testTimeout: 300_000, hookTimeout: 1_800_000 };
const onAnInstance = { ...oneByOne, globalSetup: ["local/test/support/cloud.ts"] };

/**
 * - `unit` needs only npm packages and starts no program; `integration` starts programs: Git, Node, a shell.
 * - `story` takes a fleet on the embedded cloud from its first start to its removal.
 * - `e2e` runs on a shared hub of the embedded cloud; `envtest` on an API server or AWS's emulated API alone; `emulator` tests the
 *   embedded cloud itself: `npm run test:e2e`.
 * - `long` takes longer than a pull request can wait: `npm test -- --project long`.
 * - `drills` breaks what spokes need while they are created: `npm run drills`, for hours.
 * - `aws` costs money: `npm run test:aws` (docs/guides/aws-proof.md).
 */
export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts", "local/test/unit/**/*.test.ts"],
          exclude: ["test/{e2e,envtest,story}/**", onAws, installed, ...integration],
          setupFiles: ["test/support/no-programs.ts"],
          ...inParallel,
          // Much is made and soon dropped: a bigger young generation is collected less often. Few functions run so long that V8's
          // second compiler is worth its time.
          execArgv: ["--min-semi-space-size=64", "--max-semi-space-size=64", "--invocation-count-for-turbofan=12000"],
          // Node runs this TypeScript as it is; through Vite's module runner each use of an import costs more. vi.mock needs the runner.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      {
        test: {
          name: "integration",
          include: integration,
          exclude: [installed],
          ...inParallel,
        },
      },
      {
        test: {
          ...onAnInstance,
          name: "e2e",
          include: [e2e],
          exclude: [long],
          // After the others: both at once would make each other slow on a small machine.
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...oneByOne, name: "envtest", include: [envtest], exclude: [long], sequence: { groupOrder: 2 } } },
      { test: { ...oneByOne, name: "emulator", include: [emulator], sequence: { groupOrder: 2 } } },
      { test: { ...oneByOne, name: "story", include: [story], sequence: { groupOrder: 2 } } },
      {
        test: {
          ...onAnInstance,
          name: "long",
          include: [long],
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...onAnInstance,
          name: "drills",
          include: ["test/drills/**/*.drill.ts"],
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: "aws",
          include: [onAws],
          globalSetup: ["test/aws/setup.ts"],
          fileParallelism: false,
          // Four hours: each wait of the proof has a limit of its own.
          testTimeout: 14_400_000,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
