import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { run } from "../../../cli/diff/command.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { GitFleet } from "../support/git-fleet.ts";

/** Without kustomize and helm: test/envtest/diff.test.ts runs the command with the real ones. */
const programs = { kustomize: () => buildText, helmProgram: () => ({}) };

const fleet = new GitFleet();
const base = mkdtempSync(join(tmpdir(), "fleet-diff-base-"));
cpSync(fleet.folder, base, { recursive: true });
afterAll(() => {
  fleet.remove();
  rmSync(base, { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  fleet.git("checkout", "--quiet", ".");
});

/** Exit code and output. */
async function diff(...flags: string[]) {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const code = await run([base, fleet.folder, ...flags], programs);
  const text = write.mock.calls.map(([part]) => String(part)).join("");
  write.mockRestore();
  return { code, text };
}

const spoke = (name: string) => `repos/gitops-system/spokes/fleet/${name}/spoke.yaml`;
const refusal = "will be refused: region can't be changed";

describe("fleet diff", () => {
  test("exits with 1 for what the API server will refuse where that is asked for, and says all of it", async () => {
    fleet.edit(spoke("blue"), ["region: eu-west-1", "region: eu-west-2"]);
    const [told, failed] = [await diff(), await diff("--fail-on-refused")];
    expect([told.code, failed.code]).toEqual([0, 1]);
    expect(failed.text).toContain(refusal);
    expect(failed.text.endsWith("\n")).toBe(true);
    const { clusters } = JSON.parse((await diff("--fail-on-refused", "--format", "json")).text);
    expect(clusters.filter(({ refused }: { refused: boolean }) => refused)).toEqual([
      expect.objectContaining({ name: "blue", problems: expect.arrayContaining([expect.stringContaining(refusal)]) }),
    ]);
  });

  test("writes text on a terminal, and a comment elsewhere or where that is asked for", async () => {
    const { isTTY } = process.stdout;
    try {
      process.stdout.isTTY = true;
      expect((await diff()).text).toMatch(/^What this change does to the fleet\n/);
      expect((await diff("--format", "markdown")).text).toMatch(/^<!-- eks/);
      process.stdout.isTTY = false;
      expect((await diff()).text).toMatch(/^<!-- eks/);
      expect((await diff("--format", "text")).text).toMatch(/^What this/);
    } finally {
      process.stdout.isTTY = isTTY;
    }
  });

  test("exits with 1 for the removal of a protected spoke", async () => {
    fleet.delete("repos/gitops-system/spokes/fleet/green");
    expect((await diff("--fail-on-refused")).code).toBe(1);
  });

  test("exits with 0 where nothing is refused, whatever changes", async () => {
    fleet.edit(spoke("teal"), ['kubernetesVersion: "1.35"', 'kubernetesVersion: "1.36"']);
    expect((await diff("--fail-on-refused")).code).toBe(0);
  });
});
