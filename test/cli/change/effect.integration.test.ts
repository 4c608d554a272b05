import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { run as offboard } from "../../../cli/app/offboard.ts";
import { run as promote } from "../../../cli/environment/promote.ts";
import { run as scale } from "../../../cli/spoke/scale.ts";
import { run as upgrade } from "../../../cli/spoke/upgrade.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { app } from "../../repos/support/spoke.ts";
import { GitFleet } from "../support/git-fleet.ts";
import { printing } from "../support/printing.ts";

/** Without kustomize: test/envtest/diff.test.ts runs fleet diff with the real one. */
const programs = { kustomize: () => buildText };
const fleet = new GitFleet();
const repos = join(fleet.folder, "repos");
const [system, workloads] = [join(repos, "gitops-system"), join(repos, "gitops-workloads")];
afterAll(() => fleet.remove());

async function said(run: (argv: string[], using: typeof programs) => Promise<number>, ...argv: string[]) {
  const { code, said: text } = await printing(() => run([...argv, "--dry-run"], programs));
  return { code, text };
}

describe("--dry-run", () => {
  test("says what the change does to each cluster, and leaves the checkout as it is", async () => {
    const { code, text } = await said(scale, "teal", "--nodes", "3", "--repository", system);
    expect(code).toBe(0);
    expect(text).toMatch(/\+ {2}nodes:[\s\S]*\nWhat this change does to the fleet\n/);
    expect(text).toMatch(/changed NodeGroup[\s\S]*\+ +maxSize: 3/);
    expect(text).toContain("the checkout → the change");
    expect(text.slice(text.indexOf("What this change does"))).not.toContain(tmpdir());
    expect(text).not.toMatch(/<\/?\w+>|\[!|\*\*|&#/);
    expect(fleet.git("status", "--porcelain")).toBe("");
  });

  test("looks at both repositories, also where they don't lie side by side", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "fleet-elsewhere-"));
    try {
      const alone = join(elsewhere, "checkout");
      cpSync(workloads, alone, { recursive: true });
      const { text } = await said(offboard, app.app, "--cluster", "blue", "--repository", alone, "--system", system);
      expect(text).toMatch(/- deleted Namespace/);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test("of a promotion shows it on the spokes of that environment alone", async () => {
    const versions = "repos/gitops-system/tools/dev/versions.yaml";
    fleet.edit(versions, ["crossplane_version: 2.4.3", "crossplane_version: 2.5.0"]);
    const { text } = await said(promote, "--from", "dev", "--to", "prod", "--repository", system);
    fleet.restart();
    const effect = text.slice(text.indexOf("What this change does"));
    expect(effect).toMatch(/- changed HelmRelease flux-system\/crossplane on green[\s\S]*\+ +version: 2\.5\.0/);
    const clusters = [...effect.matchAll(/^- changed .* on ([-\w]+)/gm)].map(([, name]) => name);
    expect([...new Set(clusters)].sort()).toEqual(["check-prod", "green"]);
    expect(effect).toContain("is not rendered, only its own fields are compared: a dry run fetches no charts");
    expect(effect).not.toContain("no helm on PATH");
  });

  test("of an upgrade names what the repositories give the spoke in old API versions", async () => {
    const old = "repos/gitops-workloads/clusters/teal/old";
    fleet.write(
      `${old}/budget.yaml`,
      "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: { name: old, namespace: default }\n",
    );
    const { text } = await said(upgrade, "teal", "--repository", system);
    expect(text).toContain("In use on teal, and deprecated or gone");
    expect(text).toContain(
      "gitops-workloads/clusters/teal/old/budget.yaml:1: policy/v1beta1 PodDisruptionBudget is removed in Kubernetes 1.25",
    );
    fleet.restart();
    expect((await said(upgrade, "teal", "--repository", system)).text).toContain(
      "The repositories give teal nothing in an API version that is deprecated or gone",
    );
  });
});
