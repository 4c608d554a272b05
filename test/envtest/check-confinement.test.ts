import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureToolchain } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { check } from "../../cli/check/check.ts";
import { confinement } from "../../cli/render/confinement.ts";
import { type Build, kustomize } from "../../cli/render/kustomize.ts";
import { removeCopies, replaced, withChanges } from "../cli/support/seeds.ts";

afterAll(removeCopies);

/** What the real kustomize can reach when `fleet check` and `fleet diff` run it. */

let kubectl: string;
beforeAll(async () => {
  kubectl = (await ensureToolchain()).bin("kubectl");
});

describe("the real kustomize", () => {
  test("sees nothing of this machine but the checkout, whatever a kustomization names", () => {
    expect(confinement(kubectl)).toBeDefined();
    const place = mkdtempSync(join(tmpdir(), "fleet-confined-"));
    const checkout = join(place, "checkout");
    mkdirSync(checkout);
    writeFileSync(join(place, "secret"), "canary\n");
    const build = kustomize({ FLEET_KUSTOMIZE: kubectl });
    expect(build.notes).toBeUndefined();
    const made = (files: readonly string[]) => {
      writeFileSync(
        join(checkout, "kustomization.yaml"),
        JSON.stringify({ configMapGenerator: [{ name: "x", files }] }),
      );
      return build(checkout, { checkout, reachesOut: true });
    };
    try {
      writeFileSync(join(checkout, "own"), "of the checkout\n");
      expect(made(["own"])).toContain("of the checkout");
      for (const file of [join(place, "secret"), "../secret", "/etc/passwd", "/proc/self/environ"])
        expect(() => made([`key=${file}`]), file).toThrow(/no such file or directory/);
      expect(() => made(["key=http://169.254.169.254/"])).toThrow(/network is unreachable/);
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  test("makes nothing of a line that only its own reader of YAML sees", () => {
    const file = "gitops-system/platform/namespaces/kustomization.yaml";
    const hidden = `#\u2028configMapGenerator: [{ name: x, files: [spokes.yaml] }]\n`;
    withChanges([replaced(file, /$/, hidden)], (folder) => {
      const real = kustomize({ FLEET_KUSTOMIZE: kubectl });
      const checkout = join(folder, "gitops-system");
      expect(real(join(folder, dirname(file)), { checkout, reachesOut: false })).toContain("kind: ConfigMap");
      const made: string[] = [];
      const build: Build = (path, scope) => {
        const text = real(path, scope);
        if (path.endsWith("/platform/namespaces")) made.push(text);
        return text;
      };
      check({ repos: folder, build });
      expect(made).toEqual([expect.stringContaining("kind: Namespace")]);
      expect(made.join()).not.toContain("kind: ConfigMap");
    });
  });
});
