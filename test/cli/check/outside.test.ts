import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { Files } from "../../../cli/render/files.ts";
import { Findings } from "../../../cli/render/findings.ts";
import { FluxBuild } from "../../../cli/render/generate.ts";
import type { Build, Scope } from "../../../cli/render/kustomize.ts";
import { missingPatches } from "../../../cli/render/patches.ts";
import { Trees } from "../../../cli/render/tree.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { fluxSeeds, namespaces, outsideSeeds } from "../support/outside-seeds.ts";
import { expected, found, removeCopies, withChanges } from "../support/seeds.ts";

afterAll(removeCopies);

const file = `${namespaces}/kustomization.yaml`;
const policies = "gitops-system/platform/policies";

describe("a kustomization reads nothing but files of its repository:", () => {
  test.each(outsideSeeds)("$fault is refused", (seed) => {
    withChanges(
      seed.changes,
      (folder) => {
        const findings = new Findings();
        const { broken } = new Trees(folder, new Files(), findings).of(join(folder, namespaces));
        expect(found({ findings: findings.sorted() }, folder)).toEqual([expected(seed)]);
        expect(broken).toBe(true);
      },
      [namespaces, `${policies}/namespaces`, "payment-app-manifests/base"],
    );
  });
});

describe("fleet check", () => {
  const [first] = outsideSeeds;
  test.each([...(first ? [first] : []), ...fluxSeeds])("refuses $fault, and kustomize never sees it", (seed) => {
    withChanges(seed.changes, (folder) => {
      const built: string[] = [];
      const made = (path: string, scope: Scope) => {
        built.push(path);
        return buildText(path, scope);
      };
      const build: Build = Object.assign(made, { notes: ["how it was built"] });
      const report = check({ repos: folder, build });
      expect(found(report, folder)).toEqual([expected(seed)]);
      expect(report.notes).toContain("how it was built");
      expect(built.filter((path) => /\/(etc|payment-app-manifests\/base)$/.test(path))).toEqual([]);
      expect(built.some((path) => path.endsWith("/platform/namespaces"))).toBe(seed !== first);
    });
  });
});

describe("a strategic merge patch that stands in the kustomization itself", () => {
  const patch = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: spokes\n  labels: { of: patch }\n";
  const member = (name: string) => `${name}:\n  - |\n${patch.replaceAll(/^/gm, "    ")}\n`;

  test.each([
    ["in patchesStrategicMerge", [{ file, from: /$/, to: member("patchesStrategicMerge") }]],
    [
      "in paths of a transformer",
      [
        { file, from: /$/, to: "transformers:\n  - plugin.yaml\n" },
        {
          file: `${namespaces}/plugin.yaml`,
          to: `apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: { name: x }\n${member("paths")}`,
        },
      ],
    ],
  ])("is taken %s", (_, changes) => {
    withChanges(
      changes,
      (folder) => {
        const findings = new Findings();
        const { broken } = new Trees(folder, new Files(), findings).of(join(folder, namespaces));
        expect([findings.sorted(), broken]).toEqual([[], false]);
      },
      [namespaces, `${policies}/namespaces`],
    );
  });
});

describe("the operations of a patch", () => {
  test.each([
    ["a file outside the checkout", "path: ../secret"],
    ["a patch that is not YAML", "patch: '{'"],
    ["no patch at all", "options: {}"],
  ])("are none for %s", (_, patch) => {
    const folder = mkdtempSync(join(tmpdir(), "fleet-patches-"));
    try {
      const checkout = join(folder, "checkout");
      mkdirSync(checkout);
      writeFileSync(join(folder, "secret"), "[{ op: replace, path: /secret, value: x }]");
      const own = join(checkout, "kustomization.yaml");
      writeFileSync(own, `patches:\n  - ${patch}\n    target: { kind: Namespace }\n`);
      const build = new FluxBuild(() => "apiVersion: v1\nkind: Namespace\nmetadata: { name: x }\n");
      const [files, findings] = [new Files(), new Findings()];
      const reading = { tree: { kustomizations: files.documents(own), plugins: [], reachesOut: false }, checkout };
      expect(missingPatches(reading, build, files, findings)).toBe(false);
      expect(findings.sorted()).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
