import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { images } from "../../../cli/check/rules/pinned.ts";
import { projectReferences } from "../../../cli/upstream/project.ts";
import { type Reference, title } from "../../../cli/upstream/references.ts";
import { fromRepositories } from "../../../cli/upstream/repositories.ts";
import { render, withAddons } from "../../repos/support/spoke.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const { references, undecided } = projectReferences(root);
const titles = references.map(title);
const kind = <K extends Reference["kind"]>(name: K) =>
  references.filter((reference): reference is Extract<Reference, { kind: K }> => reference.kind === name);

describe("the project's list of external references", () => {
  test("leaves nothing open that the files could decide", () => expect(undecided).toEqual([]));

  test.each([
    ["minimal", ["kyverno"]],
    ["production", ["karpenter", "kyverno", "metrics_server", "opencost"]],
  ] as const)("has every chart, image and package that the spoke %s gets", (example, addons) => {
    const objects = render(withAddons(example, addons)).applied.flatMap((step) => step.objects);
    const charts = objects.flatMap(({ kind, spec }) =>
      kind === "HelmRelease" ? [`chart ${spec.chart.spec.chart} ${spec.chart.spec.version} of `] : [],
    );
    const packages = objects.flatMap(({ apiVersion, spec }) =>
      apiVersion.startsWith("pkg.crossplane.io/") && spec?.package ? [`package ${spec.package}`] : [],
    );
    const containers = objects.flatMap(({ spec }) => images(spec)).map(({ reference }) => `image ${reference}`);
    const wanted = [...charts, ...packages, ...containers];
    expect(charts.length * packages.length * containers.length).toBeGreaterThan(0);
    for (const beginning of wanted)
      expect(
        titles.some((each) => each.startsWith(beginning)),
        beginning,
      ).toBe(true);
  });

  test("has the function's package from where the stacks have it, in the version of Git", () => {
    const text = readFileSync(join(root, "Pulumi.yaml"), "utf8");
    const repository = parse(text).config.functionPackage.default;
    const own = references.filter((reference) => title(reference).startsWith(`package ${repository}:v`));
    expect(own.map(({ origins }) => origins)).toEqual([
      [expect.stringContaining("repos/gitops-system/platform/crossplane/packages/function.yaml:")],
    ]);
  });

  test("has the function's package by the digest of the one stack that is asked about, and by its tag for several", () => {
    const digests = ["1", "2"].map((digit) => `@sha256:${digit.repeat(64)}`);
    const packages = ["a", "b"].map((name, index) => `registry.example/${name}${digests[index]}`);
    const found = (functionPackage: readonly string[]) =>
      projectReferences(root, { functionPackage })
        .references.map(title)
        .filter((each) => each.startsWith("package registry.example/"))
        .map((each) => each.replace(/v[\d.]+/, "v"));
    expect(found(packages.slice(0, 1))).toEqual([`package registry.example/a:v${digests[0]}`]);
    expect(found(packages).sort()).toEqual(["package registry.example/a:v", "package registry.example/b:v"]);
  });

  test("has every action of the workflows with its tag, each in one version", () => {
    const text = readFileSync(join(root, ".github", "workflows", "pull-request.yml"), "utf8");
    const used = new Set(text.match(/[\w-]+\/[\w-]+@[0-9a-f]{40}/g));
    expect(used.size).toBeGreaterThan(3);
    const listed = kind("action").map(({ repository, commit }) => `${repository}@${commit}`);
    for (const each of used) expect(listed).toContain(each);
    expect(new Set(kind("action").map(({ repository }) => repository)).size).toBe(listed.length);
  });

  test("has the actions that the project's own actions use", () => {
    const origins = references.filter(({ kind }) => kind === "action").flatMap(({ origins }) => origins);
    expect(origins.join("\n")).toContain(join(".github", "actions", "function-package", "action.yml"));
  });

  test("has the containers of the workflows", () => {
    const text = readFileSync(join(root, ".github", "workflows", "release.yml"), "utf8");
    const [, image] = /^ +container: (\S+)$/m.exec(text) ?? [];
    expect(titles).toContain(`image ${image}`);
  });

  test("has what runs on changes of the fleet's repositories, in each of them", () => {
    const app = references.find(
      (each) => each.kind === "action" && each.repository === "actions/create-github-app-token",
    );
    expect(new Set(app?.origins.map((origin) => origin.split(":")[0]))).toEqual(
      new Set(
        ["gitops-system", "gitops-workloads", "payment-app-manifests"].map((name) =>
          join("repos", name, ".github", "workflows", "fleet.yml"),
        ),
      ),
    );
    const image = references.find((each) => each.kind === "image" && each.reference.startsWith("node:"));
    expect(image?.origins).toHaveLength(3);
  });

  test("names the places to fix, with their lines", () => {
    const chart = kind("chart").find(({ name }) => name === "sealed-secrets");
    expect(chart?.repository).toBe("https://bitnami.github.io/sealed-secrets");
    const [origin = ""] = chart?.origins ?? [];
    const [file = "", line] = origin.split(":");
    const text = readFileSync(join(root, file), "utf8").split("\n")[Number(line) - 1];
    expect(text).toContain(`version: ${chart?.version}`);
  });
});

describe("the references of repositories", () => {
  const folder = temporaryFolder("fleet-upstream");
  beforeAll(() => {
    cpSync(join(root, "repos", "gitops-system", "tools"), join(folder, "tools"), { recursive: true });
  });
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    return fromRepositories(join(folder, dirname(name)), folder);
  };
  const provider = (reference: string) =>
    `apiVersion: pkg.crossplane.io/v1\nkind: Provider\nmetadata:\n  name: p\nspec:\n  package: ${reference}\n`;

  test("have one entry for each environment's value of a variable", () => {
    const { mentions } = fromRepositories(join(folder, "tools"), folder);
    const versions = mentions.flatMap(({ target }) =>
      target.kind === "chart" && target.name === "crossplane" ? [target.version] : [],
    );
    const set = ["dev", "prod"].map((environment) => {
      const text = readFileSync(join(folder, "tools", environment, "versions.yaml"), "utf8");
      return /crossplane_version: (\S+)/.exec(text)?.[1];
    });
    expect([...new Set(versions)].sort()).toEqual([...new Set(set)].sort());
  });

  test("say which variable has no value in the files", () => {
    const { mentions, undecided: open } = write("open/p.yaml", provider(`host/p:${"$"}{nowhere}`));
    expect([mentions, open]).toEqual([[], [`open/p.yaml:6: ${"$"}{nowhere} has no value in the repositories`]]);
  });

  test("take a variable's default where nothing sets it", () => {
    const { mentions } = write("default/p.yaml", provider(`${"$"}{nowhere:=host}/p:v1`));
    expect(mentions).toEqual([{ target: { kind: "package", reference: "host/p:v1" }, origin: "default/p.yaml:6" }]);
  });

  test("say when a chart's repository is not there", () => {
    const { undecided: open } = write(
      "lost/r.yaml",
      "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: r\n  namespace: spokes\nspec:\n  chart:\n    spec:\n      chart: c\n      version: 1.0.0\n      sourceRef:\n        kind: HelmRepository\n        name: lost\n",
    );
    expect(open).toEqual(["lost/r.yaml:10: no HelmRepository lost in spokes"]);
  });
});
