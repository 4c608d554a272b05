import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { help } from "../../../cli/environment/promote.ts";
import { SpokesCheckout, spokeText } from "../support/spokes-checkout.ts";

let at: SpokesCheckout;
beforeEach(() => {
  at = new SpokesCheckout();
});
afterEach(() => at.remove());

const versions = (environment: string) => `tools/${environment}/versions.yaml`;
const composition = "platform/composition/composition.yaml";
const edit = (file: string, from: string, to: string): void => {
  const before = at.read(file);
  expect(before).toContain(from);
  at.write(file, before.replace(from, to));
};
const promote = (...argv: string[]) => at.run("promote", "--from", "dev", "--to", "prod", ...argv);
/** Lines that a text has and another has not. */
const more = (text: string, than: string) => text.split("\n").filter((line) => !than.split("\n").includes(line));
const words = (text: string) => text.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, " | "));

describe("fleet promote", () => {
  test("brings the versions of one environment to another, and changes no other line of the file", async () => {
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    edit(versions("dev"), "cert_manager_version: v1.21.2", "cert_manager_version: v1.22.0");
    const before = at.read(versions("prod"));
    const { code, said } = await promote();
    expect(code).toBe(0);
    expect(words(said)).toEqual(
      expect.arrayContaining(["prod | dev", "cert_manager | v1.21.2 | v1.22.0", "crossplane | 2.4.3 | 2.5.0"]),
    );
    expect(said).toContain('git commit -m "Promote 2 changes from dev to prod"');
    expect(more(at.read(versions("prod")), before).map((line) => line.trim())).toEqual([
      "cert_manager_version: v1.22.0",
      "crossplane_version: 2.5.0",
    ]);
    expect(at.read(versions("prod"))).toBe(at.read(versions("dev")));
  });

  test("changes nothing where both run the same, also when it is run again", async () => {
    rmSync(join(at.system, "tools", "dev", "image_automation"), { recursive: true });
    const same = { code: 0, said: "Nothing to promote: prod has the versions, add-ons and Composition of dev" };
    expect(await promote()).toEqual(same);
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    await promote();
    expect(await promote()).toEqual(same);
  });

  test.each([
    ["above it", "      # pinned: the webhook breaks", "      crossplane_version: 2.4.3"],
    ["beside it", "      # the version", "      crossplane_version: 2.4.3 # pinned: the webhook breaks"],
  ])("leaves alone a version with a comment %s that pins it", async (_, above, line) => {
    edit(versions("prod"), "      crossplane_version: 2.4.3", `${above}\n${line}`);
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const { said } = await promote();
    expect(words(said)).toContain("crossplane | 2.4.3 | 2.5.0 | stays: pinned: the webhook breaks");
    expect(at.read(versions("prod"))).toContain(line);
    expect(at.read(versions("prod"))).toContain("kyverno_version: 3.9.2");
    const again = await promote();
    expect(again.code).toBe(0);
    expect(again.said).toContain(
      "Nothing to promote: but for what stays, prod has the versions, add-ons and Composition of dev",
    );
  });

  test.each([
    ["pinned until 2027", "pinned: until 2027"],
    ["Pinned: the webhook breaks", "pinned: the webhook breaks"],
    ["pinned - the webhook breaks", "pinned: the webhook breaks"],
    ["PINNED\n      # by the platform team", "pinned"],
  ])("reads a pin that is written a bit differently: # %s", async (comment, stays) => {
    const line = "      crossplane_version: 2.4.3";
    edit(versions("prod"), line, `      # ${comment}\n${line}`);
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    expect(words((await promote()).said)).toContain(`crossplane | 2.4.3 | 2.5.0 | stays: ${stays}`);
    expect(at.read(versions("prod"))).toContain(line);
  });

  test("takes a comment that only speaks of pinning for none", async () => {
    edit(versions("prod"), "      crossplane_version", "      # unpinned: newest one\n      crossplane_version");
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    await promote();
    expect(at.read(versions("prod"))).toContain("crossplane_version: 2.5.0");
  });

  test("reads a pin of the first version too, whose comment is the whole list's for a parser", async () => {
    edit(
      versions("prod"),
      "      aws_load_balancer_controller_version",
      "      # pinned\n      aws_load_balancer_controller_version",
    );
    edit(versions("dev"), "_controller_version: 3.5.0", "_controller_version: 3.6.0");
    expect((await promote()).said).toContain("stays: pinned");
    expect(at.read(versions("prod"))).toContain("_controller_version: 3.5.0");
  });

  test.each([
    ["an older version", "2.2.9", "crossplane: would be downgraded"],
    ["an earlier release candidate", "2.4.3-rc.1", "crossplane: would be downgraded"],
    ["what can't be compared", "newest", "crossplane: has versions of which nobody can tell here which one is newer"],
  ])("refuses %s unless it is meant, and writes nothing", async (_, version, message) => {
    edit(versions("dev"), "crossplane_version: 2.4.3", `crossplane_version: ${version}`);
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const before = at.read(versions("prod"));
    const { code, said } = await promote();
    expect(code).toBe(2);
    expect(said).toMatch(/^1 problem in fleet promote, nothing was changed/);
    expect(said).toContain(message);
    expect(said).toContain(`got:     2.4.3 in prod, ${version} in dev`);
    expect(at.read(versions("prod"))).toBe(before);
    expect((await promote("--except", "crossplane")).code).toBe(0);
    expect(at.read(versions("prod"))).toContain("crossplane_version: 2.4.3");
    expect((await promote("--allow-downgrade")).code).toBe(0);
    expect(at.read(versions("prod"))).toContain(`crossplane_version: ${version}`);
  });

  test("compares versions by their numbers, not by their letters", async () => {
    edit(versions("prod"), "cert_manager_version: v1.21.2", "cert_manager_version: v1.9.0");
    expect((await promote()).code).toBe(0);
    expect(at.read(versions("prod"))).toContain("cert_manager_version: v1.21.2");
  });

  test("keeps a version a text: 1.10 is not 1.1", async () => {
    edit(versions("dev"), "crossplane_version: 2.4.3", 'crossplane_version: "3.10"');
    await promote("--allow-downgrade");
    expect(at.read(versions("prod"))).toContain('crossplane_version: "3.10"');
  });

  test("promotes only what is named, or all but what is named", async () => {
    edit(versions("dev"), "crossplane_version: 2.4.3", "crossplane_version: 2.5.0");
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const { said } = await promote("--only", "kyverno");
    expect(words(said)).toContain("crossplane | 2.4.3 | 2.5.0 | stays: left out");
    expect(said).toContain('git commit -m "Promote kyverno from dev to prod"');
    expect(at.read(versions("prod"))).toContain("crossplane_version: 2.4.3");
    expect(at.read(versions("prod"))).toContain("kyverno_version: 3.9.2");
    await promote("--except", "crossplane");
    expect(at.read(versions("prod"))).toContain("crossplane_version: 2.4.3");
  });

  test("can promote what its help takes for an example", async () => {
    const [, example = ""] = /^ +fleet promote .*--only (\S+)/m.exec(help) ?? [];
    expect((await promote("--only", example)).code).toBe(0);
    expect(example).not.toBe("");
  });

  test("has the Composition reach an environment whose channel holds it back", async () => {
    const open = at.read(composition);
    edit(composition, 'internal/prod: "true"', 'internal/prod: "false"');
    const { said } = await promote();
    expect(words(said)).toContain("composition | held back | taken");
    expect(at.read(composition)).toBe(open);
  });

  test("leaves a Composition that is held back in both: nobody has tried it", async () => {
    edit(composition, 'internal/prod: "true"', 'internal/prod: "false"');
    edit(composition, 'internal/dev: "true"', 'internal/dev: "false"');
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const held = at.read(composition);
    expect((await promote()).said).toContain("the Composition is held back in dev too, so it is not promoted");
    expect(at.read(composition)).toBe(held);
    expect((await promote()).said).toMatch(/held back in dev too[\s\S]*Nothing to promote/);
  });

  test("offers an add-on that is new, with its version, its place in the order and its comment", async () => {
    const offered = "tools/dev/grafana/kustomization.yaml";
    at.write(offered, "components:\n  - ../../base/addons/grafana\n");
    const lines =
      "      # renovate: datasource=helm depName=grafana\n      # pinned: dev only\n      grafana_version: 1.0.0\n";
    edit(
      versions("dev"),
      "      # renovate: datasource=docker depName=registry",
      `${lines}      # renovate: datasource=docker depName=registry`,
    );
    const before = at.read(versions("prod"));
    const { said } = await promote();
    expect(words(said)).toEqual(
      expect.arrayContaining(["grafana | (none) | 1.0.0", "grafana | not offered | offered"]),
    );
    expect(at.read("tools/prod/grafana/kustomization.yaml")).toBe(at.read(offered));
    const prod = at.read(versions("prod"));
    expect(more(prod, before)).toEqual([
      "      # renovate: datasource=helm depName=grafana",
      "      grafana_version: 1.0.0",
    ]);
    expect(prod.indexOf("grafana_version")).toBeGreaterThan(prod.indexOf("external_dns_version"));
    expect(prod.indexOf("grafana_version")).toBeLessThan(prod.indexOf("kube_state_metrics_version"));
  });

  test("leaves an add-on to the environment that says it is for no other one, also where it is named", async () => {
    const { code, said } = await promote("--only", "image_automation");
    expect(code).toBe(0);
    expect(words(said)).toContainEqual(
      expect.stringMatching(
        /^image_automation \| not offered \| offered \| stays: not promoted: where merges happen by/,
      ),
    );
    expect(said).toContain("Nothing to promote: but for what stays, prod has");
    expect(at.has("tools/prod/image_automation")).toBe(false);
  });

  /** Takes the add-on prometheus and the versions that it uses from prod. */
  const withoutPrometheus = () => {
    rmSync(join(at.system, "tools", "prod", "prometheus"), { recursive: true });
    const own = /^.*\n *(kube_state_metrics|node_exporter|prometheus)_version:.*\n/gm;
    at.write(versions("prod"), at.read(versions("prod")).replaceAll(own, ""));
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
  };

  test("brings an add-on that is named with every version that its manifests use, and no other", async () => {
    withoutPrometheus();
    expect(at.read(versions("prod"))).not.toMatch(/exporter|kube_state/);
    const { code, said } = await promote("--only", "prometheus");
    expect(code).toBe(0);
    expect(said).toContain('git commit -m "Promote 4 changes from dev to prod"');
    expect(words(said)).toContain("kyverno | 3.9.1 | 3.9.2 | stays: left out");
    const dev = at.read(versions("dev"));
    expect(at.read(versions("prod"))).toBe(dev.replace("kyverno_version: 3.9.2", "kyverno_version: 3.9.1"));
    expect(at.has("tools/prod/prometheus/kustomization.yaml")).toBe(true);
  });

  test("leaves the versions of an add-on that is there alone, where only another tool is named", async () => {
    withoutPrometheus();
    await promote("--only", "kyverno");
    expect(at.read(versions("prod"))).not.toMatch(/exporter|kube_state|prometheus/);
  });

  test("refuses to leave out a version that a new add-on needs", async () => {
    withoutPrometheus();
    const { code, said } = await promote("--except", "node_exporter");
    expect(code).toBe(2);
    expect(said).toMatch(/--except: leaves out a version that prod lacks[\s\S]*got: +node_exporter/);
    expect((await promote("--except", "node_exporter", "--except", "prometheus")).code).toBe(0);
  });

  test("says that an add-on has no role while the Composition is held back", async () => {
    at.write("tools/dev/grafana/kustomization.yaml", "components:\n  - ../../base/addons/grafana\n");
    edit(composition, 'internal/prod: "true"', 'internal/prod: "false"');
    expect((await promote("--except", "composition")).said).toContain("the Composition stays held back in prod");
  });

  test("keeps what only the other environment has, and its variables that are no versions", async () => {
    edit(versions("prod"), "      kyverno_version", "      legacy_version: 1.0.0\n      kyverno_version");
    edit(versions("dev"), "      kyverno_version", "      log_level: debug\n      kyverno_version");
    const { code, said } = await promote();
    expect(code).toBe(0);
    expect(words(said)).toContain("legacy | 1.0.0 | (none) | stays: dev does not have it");
    expect(at.read(versions("prod"))).toContain("legacy_version: 1.0.0");
    expect(at.read(versions("prod"))).not.toContain("log_level");
  });

  test("names the files of an environment that differ otherwise, and leaves them alone", async () => {
    edit(versions("dev"), "      kyverno_version", "      log_level: debug\n      kyverno_version");
    edit(versions("prod"), "      kyverno_version", "      # pinned\n      kyverno_version");
    at.write("tools/dev/kyverno/patch.yaml", "kind: Patch\n");
    at.write("tools/dev/grafana/kustomization.yaml", "components:\n  - ../../base/addons/grafana\n");
    const own = at.read("tools/prod/kustomization.yaml");
    at.write("tools/prod/kustomization.yaml", `# Ours.\n${own}`);
    const files = ["kustomization.yaml", "kyverno/patch.yaml", "versions.yaml"].map((file) => `tools/prod/${file}`);
    const note = `Note: what else differs from dev is prod's own and stays: ${files.join(", ")}\n`;
    expect((await promote()).said).toContain(note);
    expect((await promote()).said).toMatch(/Nothing to promote: but for what stays, prod has the versions,/);
    expect(at.read("tools/prod/kustomization.yaml")).toBe(`# Ours.\n${own}`);
    expect(at.has("tools/prod/kyverno/patch.yaml")).toBe(false);
  });

  test("says which branches and rings the commit alone does not reach", async () => {
    edit(composition, "stages: {}", "stages:\n          prod: { gitopsSystemRevision: stable }");
    at.write("spokes/fleet/green/spoke.yaml", spokeText("green", "  ring: late\n").replace("dev", "prod"));
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const { said } = await promote();
    expect(said).toContain("prod follows the branch stable, which has to get the commit too");
    const back = await at.run("promote", "--from", "prod", "--to", "dev", "--allow-downgrade");
    expect(back.said).toContain("Note: prod follows the branch stable: run this where that is checked out");
    expect(said).toContain("by fleet rollouts --promote, when their ring has its turn, it reaches green (late)");
  });

  test("with --dry-run shows the change, and writes nothing", async () => {
    edit(versions("dev"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    const before = at.read(versions("prod"));
    const { said } = await promote("--dry-run");
    expect(said).toMatch(/-\s+kyverno_version: 3\.9\.1\n\+\s+kyverno_version: 3\.9\.2/);
    expect(said).toContain("Nothing was written.");
    expect(at.read(versions("prod"))).toBe(before);
  });

  test("tells every problem of the files at once", async () => {
    at.write(versions("dev"), "kind: Kustomization\n");
    edit(versions("prod"), "crossplane_version: 2.4.3", "crossplane_version: 2.4");
    const { code, said } = await promote();
    expect(code).toBe(2);
    expect(said).toContain("tools/dev/versions.yaml: has no spec.postBuild.substitute");
    expect(said).toContain("tools/prod/versions.yaml: has a version that is not a text: crossplane_version");
  });

  test("goes in any direction between environments: the fleet declares no order of them", async () => {
    edit(versions("prod"), "kyverno_version: 3.9.1", "kyverno_version: 3.9.2");
    expect((await at.run("promote", "--from", "prod", "--to", "dev")).code).toBe(0);
    expect(at.read(versions("dev"))).toContain("kyverno_version: 3.9.2");
  });
});
