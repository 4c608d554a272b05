import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { testToolsStep } from "../../../cli/test-tools.ts";
import { productPaths } from "../../../product-paths.ts";
import { scratch } from "../../support/scratch.ts";

test("builds actionlint before the tests, from its go.mod as it is", async () => {
  const dir = scratch("test-tools-");
  const script = `#!/bin/sh\necho "$PWD $GOFLAGS $GOTOOLCHAIN $*" >> ${dir}/calls\n`;
  writeFileSync(join(dir, "go"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${dir}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await testToolsStep.run(undefined, () => {});
  expect(readFileSync(join(dir, "calls"), "utf8")).toBe(
    `${productPaths.envtest}/actionlint -mod=readonly local build -o /dev/null tool\n`,
  );
});
