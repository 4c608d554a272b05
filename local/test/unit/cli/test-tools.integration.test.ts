import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testToolsStep } from "../../../cli/test-tools.ts";
import { productPaths } from "../../../product-paths.ts";

test("what Go builds for the end-to-end tests is built before them, from the go.mod files as they are", async () => {
  const dir = mkdtempSync(join(tmpdir(), "test-tools-"));
  const path = process.env["PATH"];
  try {
    const go = join(dir, "go");
    writeFileSync(go, `#!/bin/sh\necho "$PWD $GOFLAGS $GOTOOLCHAIN $*" >> ${dir}/calls\n`);
    chmodSync(go, 0o755);
    process.env["PATH"] = `${dir}:${path}`;
    const said: string[] = [];
    await testToolsStep.run(undefined, (detail) => said.push(detail));
    expect(said).toEqual(["actionlint", "kyverno"]);
    const { envtest } = productPaths;
    expect(readFileSync(join(dir, "calls"), "utf8").trimEnd().split("\n")).toEqual([
      `${envtest}/actionlint -mod=readonly local build -o /dev/null tool`,
      `${envtest}/kyverno -mod=readonly local build -o /dev/null .`,
    ]);
  } finally {
    process.env["PATH"] = path;
    rmSync(dir, { recursive: true });
  }
});
