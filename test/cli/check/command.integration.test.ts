import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/check/command.ts";
import { kustomize } from "../../../cli/render/kustomize.ts";
import { UsageError } from "../../../cli/usage.ts";
import { repos } from "../../repos/support/spoke.ts";

let empty: string;
beforeEach(() => {
  empty = mkdtempSync(join(tmpdir(), "fleet-empty-"));
});
afterEach(() => {
  rmSync(empty, { recursive: true });
  vi.unstubAllEnvs();
});

describe("fleet check could not run (exit code 2)", () => {
  test("on a folder without the repositories, and says what belongs there", async () => {
    vi.stubEnv("FLEET_KUSTOMIZE", process.execPath);
    const failed = run(["--repos", empty]);
    await expect(failed).rejects.toThrow(UsageError);
    await expect(failed).rejects.toThrow("has no folder gitops-system");
  });

  test("when it fails where nobody thought of it: that is not a finding", async () => {
    vi.stubEnv("FLEET_KUSTOMIZE", process.execPath);
    const crds = join(empty, "crds.json");
    writeFileSync(crds, "{");
    const failed = run(["--repos", repos, "--crds", crds]);
    await expect(failed).rejects.toThrow(UsageError);
    await expect(failed).rejects.toThrow("fleet check could not run: ");
  });

  test("without kustomize, and says how to get one", () => {
    expect(() => kustomize({ PATH: empty })).toThrow("neither kustomize nor kubectl is on PATH");
    expect(() => kustomize({ FLEET_KUSTOMIZE: join(empty, "kustomize") })).toThrow("which is not a program");
  });
});
