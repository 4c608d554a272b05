import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Mirror, mirrorScript } from "../../../cli/mirror/script.ts";

const ecr = "111111111111.dkr.ecr.eu-west-1.amazonaws.com/mirror";
const mirror: Mirror = {
  registry: ecr,
  charts: [
    { name: "flux2", version: "2.19.0", repository: "https://charts.example", values: { cli: { image: "it's" } } },
    { name: "karpenter", version: "1.15.2", repository: "oci://public.ecr.aws/karpenter", values: {} },
  ],
  images: ["xpkg.example/a/provider:v1", "quay.io/prometheus/prometheus:v3", `ghcr.io/a/b@sha256:${"0".repeat(64)}`],
  tags: {},
  caches: new Map([["quay.io", ""]]),
  kubernetesVersion: "1.37",
};

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs the script with programs that write down how they were called; the AWS CLI knows nothing of what it is asked for. */
function calls(of: Mirror, repositoriesExist = false): string[] {
  const folder = mkdtempSync(join(tmpdir(), "mirror-"));
  folders.push(folder);
  const log = join(folder, "log");
  const program = (name: string, body: string) => {
    writeFileSync(join(folder, name), `#!/bin/bash\necho "${name} $*" >> ${log}\n${body}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  program("aws", `case $2 in describe-*) exit ${repositoriesExist ? 0 : 254} ;; esac`);
  program("crane", "cat > /dev/null");
  // As charts print them: with a mirror, from upstream, twice, and without a tag.
  const rendered = [
    "image: mirror.invalid/ghcr.io/fluxcd/$2:v1",
    '  image: "mirror.invalid/ghcr.io/fluxcd/$2:v1"',
    "  - --image=mirror.invalid/quay.io/jetstack/solver:v2",
    "image: docker.io/other/image:1",
    "value: mirror.invalid/ghcr.io/fluxcd",
    "image: mirror.invalid/--insecure:v1",
  ].join("\n");
  program("helm", `[ $1 != template ] || { cat > ${folder}/values-$2; cat << END\n${rendered}\nEND\n}`);
  const run = spawnSync("bash", ["--norc", "-c", mirrorScript(of)], {
    // No program of the machine is called by mistake: bash reads ~/.bashrc where its standard input is a socket.
    env: { PATH: `${folder}:/usr/bin:/bin`, TMPDIR: folder, MARK: join(folder, "mark") },
    encoding: "utf8",
  });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
  return readFileSync(log, "utf8").trim().split("\n");
}

describe("the script of fleet mirror", () => {
  it("logs in to Amazon ECR, and creates each repository before anything is pushed to it", () => {
    const found = calls(mirror);
    expect(found).toContain(`crane auth login ${ecr.split("/")[0]} --username AWS --password-stdin`);
    const created = (name: string) =>
      found.indexOf(
        `aws ecr create-repository --repository-name mirror/${name} --region eu-west-1 --registry-id 111111111111`,
      );
    const copied = (reference: string) => found.indexOf(`crane copy ${reference} ${ecr}/${reference}`);
    for (const [name, reference] of [
      ["xpkg.example/a/provider", "xpkg.example/a/provider:v1"],
      ["ghcr.io/a/b", mirror.images[2] as string],
      ["ghcr.io/fluxcd/flux2", "ghcr.io/fluxcd/flux2:v1"],
    ] as const) {
      expect(created(name), name).toBeGreaterThan(0);
      expect(copied(reference), name).toBeGreaterThan(created(name));
    }
    expect(created("charts/flux2")).toBeGreaterThan(0);
    const pushed = found.findIndex((call) => call.startsWith("helm push") && call.endsWith(`oci://${ecr}/charts`));
    expect(pushed).toBeGreaterThan(created("charts/flux2"));
  });

  it("copies an image with a tag and a digest by its digest, and gives it the tag", () => {
    const both = `ghcr.io/a/function:v1@sha256:${"1".repeat(64)}`;
    const found = calls({ ...mirror, images: [both] });
    expect(found).toContain(`crane copy ${both} ${ecr}/ghcr.io/a/function:v1`);
    expect(found).toContainEqual(expect.stringContaining("--repository-name mirror/ghcr.io/a/function "));
  });

  it("creates each repository with the tags", () => {
    const tags = { "cost-center": "4711", owner: "team  one=two" };
    const created = calls({ ...mirror, tags }).filter((call) => call.startsWith("aws ecr create-repository"));
    expect(created.length).toBeGreaterThan(4);
    const written = `--tags [{"Key":"cost-center","Value":"4711"},{"Key":"owner","Value":"team  one=two"}] --region`;
    for (const call of created) expect(call).toContain(written);
  });

  it("pulls charts from both kinds of repositories", () => {
    const pulls = calls(mirror).filter((call) => call.startsWith("helm pull"));
    expect(pulls).toEqual([
      expect.stringContaining("helm pull flux2 --repo https://charts.example --version 2.19.0 "),
      expect.stringContaining("helm pull oci://public.ecr.aws/karpenter/karpenter --version 1.15.2 "),
    ]);
  });

  it.each([
    ["a line that ended the here-document", "VALUES\ntouch $MARK\ncat << 'VALUES'\n"],
    ["quotes", "'; touch $MARK; echo '"],
    ["double quotes", '"; touch $MARK; echo "'],
    ["a command substitution", "$(touch $MARK)`touch $MARK`"],
    ["a backslash before a quote", "\\'; touch $MARK #"],
    ["control characters", "\0\r\n\u2028'\n; touch $MARK"],
  ])("passes values with %s unchanged to helm and runs nothing", (_name, text) => {
    for (const values of [{ key: text }, { [text]: 1 }, { list: [text] }, { deep: { key: `${text}\n` } }]) {
      const chart = { name: "c", version: "1.0.0", repository: "https://charts.example", values };
      calls({ ...mirror, charts: [chart] });
      const folder = folders.at(-1) as string;
      expect(existsSync(join(folder, "mark"))).toBe(false);
      expect(parse(readFileSync(join(folder, "values-c"), "utf8"))).toEqual(values);
    }
  });

  it("copies each image of a chart once, and none that the chart takes from upstream", () => {
    const copies = calls(mirror).filter((call) => call.startsWith("crane copy"));
    expect(copies.map((call) => call.split(" ")[2])).toEqual([
      "xpkg.example/a/provider:v1",
      mirror.images[2],
      "ghcr.io/fluxcd/flux2:v1",
      "ghcr.io/fluxcd/karpenter:v1",
    ]);
  });

  it("leaves images of a pull-through cache to the first pull, and creates the rule and their repositories", () => {
    const found = calls(mirror);
    expect(found).toContainEqual(
      expect.stringMatching(
        /^aws ecr create-pull-through-cache-rule --ecr-repository-prefix mirror\/quay.io --upstream-registry-url quay.io /,
      ),
    );
    for (const name of ["quay.io/prometheus/prometheus", "quay.io/jetstack/solver"])
      expect(found).toContainEqual(expect.stringContaining(`create-repository --repository-name mirror/${name} `));
  });

  it("names the credential of an upstream registry", () => {
    const secret = "arn:aws:secretsmanager:eu-west-1:111111111111:secret:ecr-pullthroughcache/github";
    expect(mirrorScript({ ...mirror, caches: new Map([["ghcr.io", secret]]) })).toContain(
      `--upstream-registry-url ghcr.io --credential-arn ${secret}`,
    );
  });

  it("creates nothing that exists, and calls no AWS for another registry", () => {
    expect(calls(mirror, true).filter((call) => call.includes("create-"))).toEqual([]);
    const other = calls({ ...mirror, registry: "registry.example/mirror", caches: new Map() });
    expect(other.filter((call) => call.startsWith("aws") || call.includes("login"))).toEqual([]);
    expect(other).toContain(
      "crane copy quay.io/prometheus/prometheus:v3 registry.example/mirror/quay.io/prometheus/prometheus:v3",
    );
  });

  it("takes a registry without a path", () => {
    const host = ecr.split("/")[0] as string;
    const found = calls({ ...mirror, registry: host });
    expect(found).toContainEqual(expect.stringContaining("create-repository --repository-name charts/flux2 "));
    expect(found).toContainEqual(expect.stringContaining("--ecr-repository-prefix quay.io "));
  });
});
