import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chartVersions, ensureToolchain, type Toolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { isObject } from "../../cli/render/files.ts";
import { mirror, mirrored } from "../repos/support/mirrors.ts";
import { render, withAddons } from "../repos/support/spoke.ts";
import { runProgram, stackConfig } from "../support/program.ts";
import { kyvernoChart, kyvernoSource } from "./support/kyverno.ts";

/**
 * Every image of every pod of every chart, as Helm renders them with the values of hub and spokes: none escapes the mirror. The charts
 * are those that are available here: metrics-server's and the job of flux2's check are not, test/repos/mirrors.test.ts has their values.
 */

interface Release {
  readonly title: string;
  readonly chart: string;
  readonly values: object;
}

let toolchain: Toolchain;
let work: string;
let kyverno: string;
let hub: Release[];

const spokeReleases: Release[] = render(withAddons("production", ["kyverno"]), { hub: mirrored }).applied.flatMap(
  ({ objects }) =>
    objects
      .filter(({ kind }) => kind === "HelmRelease")
      .map(({ spec }) => ({
        title: `a spoke's ${spec.chart.spec.chart}`,
        chart: spec.chart.spec.chart,
        values: spec.values,
      })),
);
const kyvernoVersion = (): string =>
  render(withAddons("production", ["kyverno"]))
    .by("kyverno")
    .find(({ kind }) => kind === "HelmRelease")?.spec.chart.spec.version;

beforeAll(async () => {
  toolchain = await ensureToolchain();
  work = mkdtempSync(join(tmpdir(), "mirrors-e2e-"));
  kyverno = kyvernoChart(await kyvernoSource(), work, kyvernoVersion());
  const own = {
    "eks-gitops-fleet:imagesRegistry": mirror,
    "eks-gitops-fleet:pullSecret": '{"auths":{"registry.example":{"username":"fleet","password":"x"}}}',
  };
  const { resources } = await runProgram("prod", { ...stackConfig("prod"), ...own }, ["eks-gitops-fleet:pullSecret"]);
  hub = resources
    .filter(({ type }) => type.endsWith(":Release"))
    .map(({ inputs }) => ({ title: inputs["name"], chart: inputs["chart"], values: inputs["values"] }));
});
afterAll(() => rmSync(work, { recursive: true }));

const archive = (chart: string) =>
  chart === "kyverno"
    ? kyverno
    : join(toolchain.charts, `${chart}-${chartVersions[chart as keyof typeof chartVersions]}.tgz`);

async function rendered({ chart, values }: Release): Promise<unknown[]> {
  const file = join(work, "values.yaml");
  writeFileSync(file, stringify(values));
  const args = ["template", "release", archive(chart), "--namespace", "test", "--values", file];
  const { stdout } = await promisify(execFile)(toolchain.bin("helm"), args, { encoding: "utf8", maxBuffer: 2 ** 26 });
  return parseAllDocuments(stdout).flatMap((document) => (document.contents ? [document.toJS() as unknown] : []));
}

type Pod = Readonly<Record<string, unknown>>;

/** Specifications of pods anywhere in an object: what has containers. */
function pods(value: unknown): Pod[] {
  if (Array.isArray(value)) return value.flatMap(pods);
  if (!isObject(value)) return [];
  return [...(Array.isArray(value["containers"]) ? [value] : []), ...Object.values(value).flatMap(pods)];
}

/** Secrets that a pod pulls with: its own, or those of its service account. */
function pullSecrets(pod: Pod, objects: readonly unknown[]): unknown {
  const account = objects.find(
    (each): each is Pod =>
      isObject(each) &&
      each["kind"] === "ServiceAccount" &&
      isObject(each["metadata"]) &&
      each["metadata"]["name"] === pod["serviceAccountName"],
  );
  return pod["imagePullSecrets"] ?? account?.["imagePullSecrets"];
}

async function expectMirrored(release: Release): Promise<void> {
  const objects = await rendered(release);
  const found = pods(objects);
  expect(found.length, release.title).toBeGreaterThan(0);
  for (const pod of found) {
    const containers = ["containers", "initContainers"].flatMap((key) => (pod[key] ?? []) as { image: string }[]);
    for (const { image } of containers)
      expect(image, release.title).toMatch(new RegExp(`^${mirror}/[a-z.-]+[.][a-z]+/[^:]+:.+$`));
    expect(pullSecrets(pod, objects), release.title).toEqual([{ name: "pull-secret" }]);
  }
}

describe("every image comes from the mirror, with the pull secret", () => {
  test("of the hub's releases", async () => {
    expect(hub.map(({ chart }) => chart).sort()).toEqual(["crossplane", "external-secrets", "flux2"]);
    for (const release of hub) await expectMirrored(release);
  });

  test.each(spokeReleases)("of $title", expectMirrored);
});
