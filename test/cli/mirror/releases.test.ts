import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { chartReleases, mark } from "../../../cli/mirror/releases.ts";
import { charts } from "../../../components/versions.ts";
import { mirror, mirrored } from "../../repos/support/mirrors.ts";
import { render, repos, withAddons } from "../../repos/support/spoke.ts";
import { runStack } from "../../support/program.ts";

const releases = chartReleases(repos);
/** Images that values name, without the mirror. */
const imagesIn = (values: unknown, of: string): string[] =>
  [...stringify(values, { lineWidth: 0 }).matchAll(new RegExp(`${of}/([^\\s"',]+)`, "g"))].map(([, name]) =>
    String(name),
  );
const named = (chart: string) =>
  releases.filter(({ name }) => name === chart).flatMap(({ values }) => imagesIn(values, mark));

describe("the charts that fleet mirror copies", () => {
  it("are those of the hub's program, in its versions", () => {
    for (const { name, version, repository } of Object.values(charts))
      expect(releases).toContainEqual(expect.objectContaining({ name, version, repository }));
  });

  it("name every image that pulumi up has charts pull from a mirror", async () => {
    const { resources } = await runStack("prod", { "eks-gitops-fleet:imagesRegistry": mirror });
    const ofHub = resources.filter(({ type }) => type === "kubernetes:helm.sh/v3:Release");
    expect(ofHub.length).toBe(3);
    for (const { inputs } of ofHub) {
      const images = imagesIn(inputs["values"], mirror);
      expect(images.length).toBeGreaterThan(0);
      expect(named(String(inputs["chart"])), String(inputs["chart"])).toEqual(expect.arrayContaining(images));
    }
  });

  it("are those of a spoke with add-ons, with every image that their values name", () => {
    const addons = ["kyverno", "metrics_server", "external_dns", "velero", "opencost", "karpenter"];
    const objects = render(withAddons("production", addons), { hub: { ...mirrored, pullSecrets: [] } }).applied.flatMap(
      (each) => each.objects,
    );
    const ofSpoke = objects.filter(({ kind }) => kind === "HelmRelease");
    expect(ofSpoke.length).toBeGreaterThan(7);
    for (const { metadata, spec } of ofSpoke) {
      const { chart, version } = spec.chart.spec;
      expect(releases, metadata.name).toContainEqual(expect.objectContaining({ name: chart, version }));
      expect(named(chart), metadata.name).toEqual(expect.arrayContaining(imagesIn(spec.values ?? {}, mirror)));
    }
  });

  it("have values without variables", () => {
    for (const { name, values } of releases) expect(stringify(values), name).not.toMatch(/\$\{/);
  });
});
