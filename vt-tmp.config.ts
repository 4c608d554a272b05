import { defineConfig } from "vitest/config";
export default defineConfig({ root: "/work/wt-hub", test: { include: ["test/e2e/lost-hub.long.test.ts"], testTimeout: 600000, hookTimeout: 600000, fileParallelism: false } });
