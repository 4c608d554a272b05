import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { check } from "../../../cli/check/check.ts";
import { Files } from "../../../cli/check/files.ts";
import { Findings } from "../../../cli/check/findings.ts";
import type { Build } from "../../../cli/check/kustomize.ts";
import { Trees } from "../../../cli/check/tree.ts";
import { buildText } from "../../repos/support/kustomize.ts";
import { fluxSeeds, namespaces, outsideSeeds } from "../support/outside-seeds.ts";
import { expected, found, withChanges } from "../support/seeds.ts";

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
      [namespaces, "payment-app-manifests/base"],
    );
  });
});

describe("fleet check", () => {
  const [first] = outsideSeeds;
  test.each([...(first ? [first] : []), ...fluxSeeds])("refuses $fault, and kustomize never sees it", (seed) => {
    withChanges(seed.changes, (folder) => {
      const built: string[] = [];
      const build: Build = (path, scope) => {
        built.push(path);
        return buildText(path, scope);
      };
      expect(found(check({ repos: folder, build }), folder)).toEqual([expected(seed)]);
      expect(built.filter((path) => /\/(etc|payment-app-manifests\/base)$/.test(path))).toEqual([]);
      expect(built.some((path) => path.endsWith("/platform/namespaces"))).toBe(seed !== first);
    });
  });
});
