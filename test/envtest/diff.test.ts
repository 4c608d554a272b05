import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../../cli/diff/report.ts";
import { root } from "../cli/support/fleet.ts";
import { GitFleet } from "../cli/support/git-fleet.ts";

/** `npx fleet diff` as a person runs it: with the real kustomize, helm and charts, on Git revisions. */

let fleet: GitFleet;
let env: NodeJS.ProcessEnv;
let charts: string;

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  charts = toolchain.charts;
  env = {
    ...process.env,
    FLEET_KUSTOMIZE: toolchain.bin("kubectl"),
    PATH: `${dirname(toolchain.bin("helm"))}:/usr/bin:/bin`,
  };
  fleet = new GitFleet();
});
afterAll(() => fleet.remove());

function diff(args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const argv = [join(root, "cli", "main.ts"), "diff", ...args];
  return spawnSync(process.execPath, argv, {
    encoding: "utf8",
    cwd: fleet.folder,
    env: { ...env, ...more },
    maxBuffer: 2 ** 28,
  });
}

describe("npx fleet diff", () => {
  test("says of a refactoring that nothing changes, as a comment, with exit code 0", () => {
    const folder = "repos/gitops-system/spoke-bootstrap/flux";
    fleet.move(`${folder}/release.yaml`, `${folder}/releases/flux.yaml`);
    fleet.edit(`${folder}/kustomization.yaml`, ["release.yaml", "releases/flux.yaml"]);
    fleet.commit();
    const { status, stdout, stderr } = diff(["HEAD~1", "HEAD"]);
    expect([stderr, status]).toEqual(["", 0]);
    expect(stdout).toContain("**Nothing changes**: 4 clusters compared.");
  });

  test("shows a change of a chart's values as what the chart makes of it, on every spoke, beside the stacks", () => {
    fleet.edit("repos/gitops-system/spoke-bootstrap/flux/releases/flux.yaml", ["--concurrent=20", "--concurrent=10"]);
    fleet.commit();
    const preview = join(fleet.folder, ".git", "preview.json");
    const urn = "urn:pulumi:prod::eks-gitops-fleet::aws:kms/key:Key::secrets";
    writeFileSync(preview, JSON.stringify({ steps: [{ op: "delete", urn }] }));
    const args = ["HEAD~1", "HEAD", "--charts", charts, "--preview", `prod=${preview}`];
    const { status, stdout, stderr } = diff([...args, "--format", "json"]);
    expect([stderr, status]).toEqual(["", 0]);
    const { clusters, stacks, gaps, notes } = JSON.parse(stdout) as Report;
    expect([gaps, notes.filter((note) => note.includes("not rendered"))]).toEqual([[], []]);
    const changed = clusters.flatMap(({ name, changes }) =>
      changes.map(({ operation, kind, name: object, by }) => [name, operation, kind, object, by].join(" ")),
    );
    expect(changed).toEqual(
      ["blue", "green", "teal", "check-dev", "check-prod"].flatMap((name) => [
        `${name} changed Deployment kustomize-controller HelmRelease spokes/${name}-flux`,
        `${name} changed HelmRelease ${name}-flux Kustomization spokes/${name}-flux`,
      ]),
    );
    expect(stacks).toMatchObject([{ name: "prod", changes: [{ operation: "delete", stateful: true }] }]);
    expect(diff(args).stdout).toContain("> - **deleted** aws:kms/key:Key: `secrets` – stack prod");
  });

  test("compares the values, and says so, where there is no helm", () => {
    const { status, stdout } = diff(["HEAD~1", "HEAD"], { PATH: "/usr/bin:/bin" });
    expect(status).toBe(0);
    expect(stdout).toContain("is not rendered, only its own fields are compared: there is no helm on PATH");
    expect(stdout).toContain("+          - --concurrent=10");
  });

  test("says why it can't run, with exit code 2", () => {
    for (const [args, more, why] of [
      [["nowhere", "HEAD"], {}, "nowhere is neither a revision of"],
      [["HEAD", "HEAD"], { FLEET_KUSTOMIZE: "/nowhere" }, "FLEET_KUSTOMIZE is /nowhere, which is not a program"],
      [["HEAD", "HEAD", "--bridge", "/nowhere"], {}, "--bridge"],
    ] as const) {
      const { status, stderr } = diff(args, more);
      expect([status, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});
