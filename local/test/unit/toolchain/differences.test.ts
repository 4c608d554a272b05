import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { charts, filled, markdownTable } from "../../../product.ts";
import { addonVersion } from "../../../toolchain/addons.ts";
import { differences, productionPins } from "../../../toolchain/differences.ts";
import { addonGroups, goGroups } from "../../../toolchain/go-groups.ts";
import { chartVersions, imageReferences } from "../../../toolchain/index.ts";

const readme = join(import.meta.dirname, "..", "..", "..", "README.md");

const differencesTable = (): string[] =>
  markdownTable(
    ["Part", "Production", "Here", "Why"],
    differences().map(({ part, production, local, why }) => [part, production, local, why]),
  );

/** What the programs leave out of what upstream compiles in. */
const leftOutTable = (): string[] =>
  markdownTable(
    ["Module", "What is left out", "Patch"],
    [...goGroups, ...addonGroups].flatMap(({ name, patches }) =>
      patches.map(({ file, module, says }) => [
        `\`${module}\``,
        says,
        `[${basename(file)}](toolchain/go/${name}/patches/${basename(file)})`,
      ]),
    ),
  );

test("the README has the versions that differ and what programs leave out as the code has them: npm run generate", async () => {
  const text = filled(readFileSync(readme, "utf8"), "differences", ["", ...differencesTable(), ""]);
  await expect(filled(text, "left-out", ["", ...leftOutTable(), ""])).toMatchFileSnapshot(readme);
});

describe("what the local stack runs in another version than production", () => {
  test("is named for External Secrets, whose chart has production's number around the program that runs", () => {
    const found = differences().find(({ part }) => part === "External Secrets");
    expect(found?.production).toBe(charts.externalSecrets.version);
    expect(chartVersions["external-secrets"]).toBe(found?.production);
    expect(imageReferences.externalSecrets.endsWith(`:v${found?.local}`)).toBe(true);
  });

  test("is named for Flux, Argo CD and the chart of ours in the place of Velero's", () =>
    expect(differences()).toEqual(
      expect.arrayContaining([
        {
          part: "Flux",
          production: expect.stringMatching(/^chart \S+ with kustomize-controller v\S+, helm-controller v\S+$/),
          local: expect.stringMatching(
            /^source-controller v\S+, kustomize-controller .+, image-reflector-controller v\S+$/,
          ),
          why: expect.stringContaining("no module has upstream's"),
        },
        expect.objectContaining({ part: "Argo CD", production: `chart ${productionPins()["argocd_version"]}` }),
        expect.objectContaining({ part: "Add-on velero", local: `that of ${addonVersion("velero")}` }),
      ]),
    ));

  test.each([
    ["prometheus_version", "quay.io/prometheus/prometheus"],
    ["kube_state_metrics_version", "registry.k8s.io/kube-state-metrics/kube-state-metrics"],
    ["cluster_api_controller_version", "registry.k8s.io/cluster-api/cluster-api-controller"],
  ])("is named for an image of which Git has another %s, and for no other", (pin, image) => {
    const images = (pins?: Record<string, string>) => differences(pins).filter(({ part }) => part.startsWith("Image "));
    expect(images()).toEqual([]);
    expect(images({ ...productionPins(), [pin]: "v9.9.9" })).toEqual([
      expect.objectContaining({ part: `Image ${image}`, production: "v9.9.9" }),
    ]);
  });

  test("is not named for what is the same in both", () => {
    expect(differences().map(({ part }) => part)).not.toContain("Add-on kyverno");
    for (const { production, local, why } of differences()) {
      expect(production).not.toBe(local);
      expect(why).not.toBe("");
    }
  });
});
