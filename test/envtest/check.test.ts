import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "../../cli/check/check.ts";
import { kustomize } from "../../cli/render/kustomize.ts";
import { expected, found, moreSeeds, removeCopies, seeds, withChanges } from "../cli/support/seeds.ts";
import { validationSeeds } from "../cli/support/validation-seeds.ts";
import { schemaFolder } from "../functions/spoke/support/schemas.ts";

afterAll(removeCopies);

/** `fleet check` with the real kustomize and the definitions of the pinned versions. */

const root = join(import.meta.dirname, "..", "..");

let kubectl: string;
/** What `npm run crds` copies. */
let folder: string;
let definitions: readonly string[];

beforeAll(async () => {
  const toolchain = await ensureToolchain();
  kubectl = toolchain.bin("kubectl");
  folder = mkdtempSync(join(tmpdir(), "crds-"));
  const { status, stderr } = spawnSync(process.execPath, [join(root, "local/cli/crds.ts"), folder], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  definitions = [folder, ...(schemaFolder === undefined ? [] : [schemaFolder])];
});
afterAll(() => rmSync(folder, { recursive: true }));

const report = (folder: string, paths: readonly string[] = []) =>
  check({ repos: folder, definitions: paths, build: kustomize({ FLEET_KUSTOMIZE: kubectl }) });

/** The API groups whose definitions lie beside the repository: files are named after group and plural. */
const suppliedGroups = new Set(
  schemaFolder === undefined ? [] : readdirSync(schemaFolder).map((file) => file.split("_")[0] ?? ""),
);

/** The command as a person runs it. */
function fleet(...args: readonly string[]) {
  const env = { ...process.env, FLEET_KUSTOMIZE: kubectl };
  return spawnSync(process.execPath, [join(root, "cli", "main.ts"), "check", ...args], {
    encoding: "utf8",
    env,
    cwd: root,
  });
}

describe("fleet check with the real kustomize", () => {
  test("finds nothing in the repositories as they are, and knows the fields of every kind", () => {
    const { status, stdout, stderr } = fleet("--list-unchecked", ...definitions.flatMap((path) => ["--crds", path]));
    expect(stderr).toBe("");
    const expected = /^note: (the fields of .* were not checked|not checked: the fields of )/;
    expect(stdout.split("\n").filter((line) => !expected.test(line))).toEqual([
      expect.stringMatching(/^0 findings; \d+ objects on hub, check-dev, check-prod$/),
      "",
    ]);
    // No Go module has the definitions of these; some machines have those of the AWS provider next to the clone.
    const others = (kind: string) =>
      /karpenter\.|kyverno\.io/.test(kind) ||
      (/\baws\.m\.upbound\.io\//.test(kind) && !suppliedGroups.has(kind.split("/")[0] ?? ""));
    expect((stdout.match(/[\w.]+\/v\w+ \w+/g) ?? []).filter((kind) => !others(kind))).toEqual([]);
    expect(status).toBe(0);
  });

  test("finds each fault among many, and nothing else", () => {
    const together = seeds.filter(({ alone }) => !alone);
    withChanges(
      together.flatMap(({ changes }) => changes),
      (folder) => {
        const results = found(report(folder), folder);
        expect(results).toEqual(expect.arrayContaining(together.map(expected)));
        expect(results).toHaveLength(together.length);
      },
    );
  });

  test.each(seeds.filter(({ alone }) => alone))("finds, and nothing else, $fault", (seed) => {
    withChanges(seed.changes, (folder) => {
      const results = found(report(folder), folder);
      expect(results).toEqual([expected(seed)]);
      expect(results[0]?.clusters).toHaveLength(seed.clusters.length);
    });
  });

  test("finds, and nothing else, fields that the definitions don't know, and values that their rules refuse", () => {
    const told = [...moreSeeds, ...validationSeeds].filter(({ needsDefinitions }) => needsDefinitions);
    expect(told.length).toBeGreaterThan(0);
    withChanges(
      told.flatMap(({ changes }) => changes),
      (folder) => expect(found(report(folder, definitions), folder)).toEqual(told.map(expected)),
    );
  });

  test("ends with exit code 1 on a finding, in the form of GitHub's annotations if asked to", () => {
    const [seed] = seeds as [(typeof seeds)[number]];
    withChanges(seed.changes, (folder) => {
      const { status, stdout } = fleet("--repos", folder, "--format", "github");
      expect(status).toBe(1);
      expect(stdout).toMatch(/^::error file=.*cluster-info\.yaml,line=\d+,title=fleet check%3A variable::/);
    });
  });
});
