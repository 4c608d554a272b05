import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testToolsStep } from "../../../cli/test-tools.ts";
import { productPaths } from "../../../product-paths.ts";

test("builds actionlint before the tests, from its go.mod as it is", async () => {
  const dir = mkdtempSync(join(tmpdir(), "test-tools-"));
  const path = process.env["PATH"];
  try {
    const go = join(dir, "go");
    writeFileSync(go, `#!/bin/sh\necho "$PWD $GOFLAGS $GOTOOLCHAIN $*" >> ${dir}/calls\n`);
    chmodSync(go, 0o755);
    process.env["PATH"] = `${dir}:${path}`;
    await testToolsStep.run(undefined, () => {});
    expect(readFileSync(join(dir, "calls"), "utf8")).toBe(
      `${productPaths.envtest}/actionlint -mod=readonly local build -o /dev/null tool\n`,
    );
  } finally {
    process.env["PATH"] = path;
    rmSync(dir, { recursive: true });
  }
});
