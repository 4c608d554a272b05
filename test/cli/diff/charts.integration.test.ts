import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chartItems } from "../../../cli/diff/charts.ts";
import { type Item, itemId } from "../../../cli/diff/state.ts";
import type { Manifest } from "../../../cli/render/files.ts";

const folder = { path: "" };
beforeEach(() => {
  folder.path = mkdtempSync(join(tmpdir(), "fleet-charts-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder.path, { recursive: true });
});

/** A program in the place of helm: makes a ConfigMap of its values, and notes how it is called. */
function helm(script = ""): { program: string; calls: () => string[][] } {
  const program = join(folder.path, "helm");
  const log = join(folder.path, "calls");
  writeFileSync(
    program,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs");
const argv = process.argv.slice(2);
appendFileSync(${JSON.stringify(log)}, JSON.stringify(argv) + "\\n");
${script}
const values = readFileSync(argv.at(-1), "utf8");
console.log("---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: chart }\\ndata:\\n  values: " + JSON.stringify(values));
`,
  );
  chmodSync(program, 0o755);
  const calls = () =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  return { program, calls };
}

const item = (manifest: Manifest): Item => ({
  id: itemId("hub", manifest),
  manifest,
  on: "hub",
  by: "Kustomization a/b",
  steps: [],
});
const metadata = (name: string) => ({ name, namespace: "spokes" });
const repository = (url = "https://charts.example.com") =>
  item({
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "HelmRepository",
    metadata: metadata("upstream"),
    spec: { url },
  });
const release = (values: object, more: object = {}) =>
  item({
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: metadata("blue-flux"),
    spec: {
      releaseName: "flux",
      targetNamespace: "flux-system",
      values,
      chart: { spec: { chart: "flux2", version: "2.19.0", sourceRef: { kind: "HelmRepository", name: "upstream" } } },
      ...more,
    },
  });
const options = (program?: string) => ({ ...(program ? { helm: program } : {}), kubernetesVersion: () => "1.35" });
const shown = (items: readonly Item[]) => items.map(({ manifest, by }) => [by, manifest["data"]]);

describe("what a HelmRelease installs", () => {
  test("is rendered by helm template with the release's own name, namespace, chart, version, repository and values", () => {
    const { program, calls } = helm();
    const found = chartItems([repository(), release({ a: 1 })], [repository(), release({ a: 2 })], options(program));
    expect(found.notes).toEqual([]);
    expect(shown(found.before)).toEqual([["HelmRelease spokes/blue-flux", { values: "a: 1\n" }]]);
    expect(shown(found.after)).toEqual([["HelmRelease spokes/blue-flux", { values: "a: 2\n" }]]);
    expect(calls()[1]?.slice(0, -1)).toEqual([
      ...["template", "flux", "flux2", "--repo", "https://charts.example.com", "--version", "2.19.0"],
      ...["--namespace", "flux-system", "--include-crds", "--kube-version", "1.35", "--values"],
    ]);
  });

  test("is not rendered where nothing that it is made from differs", () => {
    const { program, calls } = helm();
    const [before, after] = [release({ a: 1 }, { interval: "1h" }), release({ a: 1 }, { interval: "2h" })];
    expect(chartItems([repository(), before], [repository(), after], options(program))).toEqual({
      before: [],
      after: [],
      notes: [],
    });
    expect(calls()).toEqual([]);
  });

  test("takes values of ConfigMaps below its own, as Flux does", () => {
    const { program } = helm();
    const map = item({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadata("values"),
      data: { "values.yaml": "a: 1\nb: 1\n" },
    });
    const withMap = release({ b: 2 }, { valuesFrom: [{ kind: "ConfigMap", name: "values" }] });
    expect(shown(chartItems([repository()], [repository(), map, withMap], options(program)).after)).toEqual([
      ["HelmRelease spokes/blue-flux", { values: "a: 1\nb: 2\n" }],
    ]);
  });

  test.each([
    ["there is no helm", () => options(), "there is no helm on PATH"],
    [
      "helm fails",
      () => options(helm('console.error("Error: chart not found"); process.exit(1);').program),
      "helm says: Error: chart not found",
    ],
    [
      "the chart is not in the folder of charts",
      () => ({ ...options(helm().program), charts: folder.path }),
      "flux2-2.19.0.tgz is not in ",
    ],
  ])("is compared by its values where %s, and that is said", (_name, made, why) => {
    const found = chartItems([repository(), release({ a: 1 })], [repository(), release({ a: 2 })], made());
    expect(found).toMatchObject({ before: [], after: [] });
    expect(found.notes).toEqual([
      expect.stringContaining(`HelmRelease spokes/blue-flux is not rendered, only its own fields are compared: ${why}`),
    ]);
  });

  test.each([
    ["releaseName", { releaseName: "--post-renderer=/tmp/program" }, "its name is"],
    ["targetNamespace", { targetNamespace: "../x" }, "its namespace is"],
    ["chart", { chart: { spec: { chart: "--post-renderer=/tmp/program", version: "1.0.0" } } }, "its chart is"],
    ["chart", { chart: { spec: { chart: "/root/chart", version: "1.0.0" } } }, "its chart is"],
    ["chart", { chart: { spec: { chart: "a/../../b", version: "1.0.0" } } }, "its chart is"],
    ["version", { chart: { spec: { chart: "flux2", version: "/../../x" } } }, "its version is"],
    [
      "valuesFiles",
      { chart: { spec: { chart: "flux2", version: "1.0.0", valuesFiles: ["../../x"] } } },
      "it takes values",
    ],
  ])("is never asked of helm with a %s of %j", (_name, more, why) => {
    const { program, calls } = helm();
    const spec = structuredClone(more) as { chart?: { spec: object } };
    if (spec.chart) Object.assign(spec.chart.spec, { sourceRef: { kind: "HelmRepository", name: "upstream" } });
    const found = chartItems([], [repository(), release({}, spec)], { ...options(program), charts: folder.path });
    expect([found.after, found.notes]).toEqual([[], [expect.stringContaining(why)]]);
    expect(calls()).toEqual([]);
  });

  test.each(["/etc/charts", "file:///etc/charts", "http://169.254.169.254/", "--kubeconfig=/x"])(
    "is never fetched from %s",
    (url) => {
      const { program, calls } = helm();
      const found = chartItems([], [repository(url), release({})], options(program));
      expect(found.notes).toEqual([expect.stringContaining("its repository is")]);
      expect(calls()).toEqual([]);
    },
  );

  test("is asked for in an empty folder, where no name is the path of a chart", () => {
    const { program } = helm(`if (process.cwd() === ${JSON.stringify(process.cwd())}) process.exit(1);`);
    expect(chartItems([repository()], [repository(), release({ a: 1 })], options(program)).notes).toEqual([]);
  });

  test("gets an empty home and no variable but those of the network", () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret").stubEnv("HELM_PLUGINS", "/x").stubEnv("DOCKER_CONFIG", "/x");
    vi.stubEnv("HTTPS_PROXY", "http://proxy.example.com");
    const seen = join(folder.path, "environment");
    const { program } = helm(
      `require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ ...process.env, cwd: process.cwd() }));`,
    );
    expect(chartItems([repository()], [repository(), release({})], options(program)).notes).toEqual([]);
    const { HTTPS_PROXY, HOME, cwd, ...others } = JSON.parse(readFileSync(seen, "utf8"));
    expect([HTTPS_PROXY, HOME]).toEqual(["http://proxy.example.com", cwd]);
    const allowed = new Set([
      ...["HTTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_DIR", "SSL_CERT_FILE"],
    ]);
    expect(Object.keys(others).filter((name) => !allowed.has(name))).toEqual([]);
  });

  test("is fetched from a repository that only the change names if that is allowed", () => {
    const { program, calls } = helm();
    const before = [repository(), release({})];
    const after = [repository("oci://registry.example.com/x"), release({ a: 1 })];
    const found = chartItems(before, after, options(program));
    expect(found.notes).toEqual([
      expect.stringContaining("its repository oci://registry.example.com/x is not in the base"),
    ]);
    expect(calls().flat().join()).not.toContain("registry.example.com");
    expect(chartItems(before, after, { ...options(program), newRepositories: true }).notes).toEqual([]);
    expect(calls().flat().join()).toContain("oci://registry.example.com/x/flux2");
  });
});
