import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectReferences } from "../../../cli/upstream/project.ts";
import type { ChartReference, Reference } from "../../../cli/upstream/references.ts";

/** Whether Renovate would find what the project takes from outside. */

const root = join(import.meta.dirname, "..", "..", "..");
const { references } = projectReferences(root);

interface Manager {
  readonly managerFilePatterns: readonly string[];
  readonly matchStrings: readonly string[];
  readonly depNameTemplate?: string;
  readonly datasourceTemplate?: string;
}

const { customManagers, enabledManagers } = JSON.parse(readFileSync(join(root, "renovate.json"), "utf8")) as {
  readonly customManagers: readonly Manager[];
  readonly enabledManagers: readonly string[];
};

const files = globSync("{components,repos,.github}/**/*.{ts,yaml,yml}", { cwd: root });

/** What the custom managers take from the files: Renovate runs them as global expressions without other flags. */
const found = customManagers.flatMap(({ managerFilePatterns, matchStrings, depNameTemplate, datasourceTemplate }) =>
  files
    .filter((file) => managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(file)))
    .flatMap((file) =>
      matchStrings.flatMap((expression) =>
        [...readFileSync(join(root, file), "utf8").matchAll(new RegExp(expression, "g"))].map(({ groups = {} }) => ({
          file,
          datasource: groups["datasource"] ?? datasourceTemplate,
          name: groups["packageName"] ?? groups["depName"] ?? depNameTemplate,
          registry: groups["registryUrl"],
          version: groups["currentValue"],
          digest: groups["currentDigest"],
        })),
      ),
    ),
);

const of = (datasource: string) => found.filter((each) => each.datasource === datasource);
const listed = <K extends Reference["kind"]>(...kinds: K[]) =>
  references.filter((reference): reference is Extract<Reference, { kind: K }> =>
    (kinds as string[]).includes(reference.kind),
  );

const chartReference = ({ repository, name, version }: ChartReference) =>
  `${repository.slice("oci://".length)}/${name}:${version}`;

/** Renovate reads a chart of an OCI registry as an image (Renovate docs, "helmv3", on OCI). */
const ofRegistry = ({ repository }: { readonly repository: string }) => repository.startsWith("oci://");

describe("Renovate reads", () => {
  test("every comment that is there for it", () => {
    const comments = files.flatMap(
      (file) => readFileSync(join(root, file), "utf8").match(/(#|\/\/) renovate: .*/g) ?? [],
    );
    expect(comments.length).toBeGreaterThan(0);
    expect(found.filter(({ name }) => name !== "@pulumi/pulumi")).toHaveLength(comments.length);
  });

  test("every chart with the repository and the version that clusters get, and no other", () => {
    const charts = listed("chart")
      .filter((chart) => !ofRegistry(chart))
      .map(({ name, repository, version }) => `${repository} ${name} ${version}`);
    const read = of("helm").map(({ name, registry, version }) => `${registry} ${name} ${version}`);
    expect([...new Set(read)].sort()).toEqual(charts.sort());
  });

  // Containers of workflows and the image of GitLab's pipelines are read by Renovate's own managers, digest and all.
  test("every image, package and chart of a registry, of the repositories but the fleet's own; members of the provider family by the family's version", () => {
    const family = (reference: string) => reference.replace(/\/provider-aws-[^:]+:/, "/provider-family-aws:");
    const read = of("docker").map(({ name, version }) => `${name}:${version}`);
    const wanted = listed("image", "package")
      .filter(({ origins }) => origins.some((origin) => !/^\.github\/|\.gitlab-ci\.yml:/.test(origin)))
      .map(({ reference }) => reference)
      .filter((reference) => !reference.includes("/function-spoke:"))
      .concat(listed("chart").filter(ofRegistry).map(chartReference));
    expect([...new Set(read.map(family))].sort()).toEqual([...new Set(wanted.map(family))].sort());
    for (const reference of read) expect(wanted).toContain(reference);
  });

  test("every version of an EKS add-on, for its own Kubernetes minor", () => {
    const addons = listed("addon").map(({ name, version, kubernetesVersion }) =>
      JSON.stringify([JSON.stringify({ kubernetesVersion, addonName: name }), version]),
    );
    const read = of("aws-eks-addon").map(({ name, version }) => JSON.stringify([name, version]));
    expect(read.sort()).toEqual(addons.sort());
  });

  test("every tag of a Git repository with its commit, which Flux takes", () => {
    const commits = files
      .filter((file) => file.startsWith("repos/"))
      .flatMap((file) => [...readFileSync(join(root, file), "utf8").matchAll(/^\s*commit: ([0-9a-f]{40})$/gm)])
      .map(([, commit]) => commit);
    expect(commits.length).toBeGreaterThan(0);
    const read = found.flatMap(({ file, digest }) =>
      file.startsWith("repos/") && digest !== undefined ? [digest] : [],
    );
    expect(read).toEqual(commits);
  });

  test("the Pulumi CLI of every workflow", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const workflows = files.filter((file) => readFileSync(join(root, file), "utf8").includes("pulumi/actions@"));
    const found = of("npm").filter(({ name }) => name === "@pulumi/pulumi");
    expect(found).toHaveLength(workflows.length);
    for (const { version } of found) expect(version).toBe(dependencies["@pulumi/pulumi"]);
  });

  test("actions, npm packages and the image of GitLab's pipelines by its own managers", () => {
    expect(enabledManagers).toEqual(expect.arrayContaining(["github-actions", "gitlabci", "npm", "custom.regex"]));
  });
});
