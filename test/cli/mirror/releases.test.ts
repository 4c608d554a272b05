import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { chartReleases, mark } from "../../../cli/mirror/releases.ts";
import { charts } from "../../../components/versions.ts";
import { shown } from "../../../lib/problems.ts";
import { mirror, mirrored } from "../../repos/support/mirrors.ts";
import { render, repos, withAddons } from "../../repos/support/spoke.ts";
import { runStack } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const { charts: releases } = chartReleases(repos);
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
    const { resources } = await runStack("prod", { imagesRegistry: mirror });
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

describe("a manifest in gitops-system that helm must not get", () => {
  const root = temporaryFolder("mirror-releases");

  const repository = (url: string) => ({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "HelmRepository",
    metadata: { name: "source" },
    spec: { url },
  });
  const release = (chart: object, rest: object = {}) => ({
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { name: "app" },
    spec: {
      chart: {
        spec: { chart: "c", version: "1.0.0", sourceRef: { kind: "HelmRepository", name: "source" }, ...chart },
      },
      ...rest,
    },
  });
  function found(objects: readonly object[], where = "gitops-system") {
    const folder = mkdtempSync(join(root, "case-"));
    for (const name of ["gitops-system", where]) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, where, "app.yaml"), objects.map((object) => stringify(object)).join("---\n"));
    const { charts: all, problems } = chartReleases(folder);
    return { charts: all.filter(({ name }) => name === "c"), problems };
  }

  it.each([
    ["a string", "VALUES\ntouch /tmp/x\ncat << 'VALUES'\n"],
    ["a list", ["VALUES"]],
    ["a number", 1],
    ["null", null],
  ])("is rejected if its values are %s", (_name, values) => {
    const { problems } = found([repository("https://x.example"), release({}, { values })]);
    expect(problems).toEqual([
      {
        key: "gitops-system/app.yaml: HelmRelease app",
        what: "spec.values is not a map",
        got: shown(values),
        allowed: "a map with the values of the chart",
        remedy: "correct the manifest",
      },
    ]);
  });

  it("is rejected if values from a ConfigMap are a string", () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "v" }, data: { "values.yaml": "VALUES" } };
    const own = release({}, { valuesFrom: [{ kind: "ConfigMap", name: "v" }] });
    expect(found([repository("https://x.example"), map, own]).problems).toEqual([
      expect.objectContaining({ what: "values.yaml of ConfigMap v is not a map", got: "VALUES" }),
    ]);
  });

  it.each([
    ["chart", "--post-renderer=sh", { chart: "--post-renderer=sh" }, "https://x.example"],
    ["chart", "../c", { chart: "../c" }, "https://x.example"],
    ["version", "--debug", { version: "--debug" }, "https://x.example"],
    ["version", "1;id", { version: "1;id" }, "https://x.example"],
    ["repository", "--debug", {}, "--debug"],
    ["repository", "file:///etc", {}, "file:///etc"],
    ["repository", "https://-x.example", {}, "https://-x.example"],
    ["repository", "https://x.example\n-y", {}, "https://x.example\n-y"],
    ["repository", "", { sourceRef: { kind: "GitRepository", name: "other" } }, "https://x.example"],
  ])("is rejected if its %s is %j", (member, value, chart, url) => {
    expect(found([repository(url), release(chart)]).problems).toEqual([
      expect.objectContaining({
        what: `its ${member} can't be passed to helm`,
        got: shown(value),
        allowed: expect.stringContaining("^"),
      }),
    ]);
  });

  it("is accepted with values, names and repositories of any permitted form", () => {
    const { charts: all, problems } = found([
      repository("oci://x.example/a"),
      release({ version: "1.2.x" }, { values: { key: "VALUES" } }),
    ]);
    expect(problems).toEqual([]);
    expect(all).toEqual([{ name: "c", version: "1.2.x", repository: "oci://x.example/a", values: { key: "VALUES" } }]);
  });

  it("is not read in a repository of an application", () => {
    const objects = [repository("https://x.example"), release({}, { values: "VALUES\n" })];
    expect(found(objects, "payment-app-manifests")).toEqual({ charts: [], problems: [] });
  });
});
