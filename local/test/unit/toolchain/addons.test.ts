import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { contentFolder } from "../../../product.ts";
import { CHECKOUT } from "../../../product-paths.ts";
import { addonGroups, goGroups } from "../../../toolchain/go.ts";
import {
  addonImages,
  addonNames,
  addons,
  chartVersions,
  imageReferences,
  readAddonNames,
} from "../../../toolchain/index.ts";

/** The versions that Git pins for an environment, by name. */
const pinsIn = (file: string): Record<string, string> => parse(readFileSync(file, "utf8")).spec.postBuild.substitute;

const pinned = globSync("tools/*/versions.yaml", { cwd: contentFolder(CHECKOUT, "gitops-system") }).map(
  (path) => [basename(dirname(path)), join(contentFolder(CHECKOUT, "gitops-system"), path)] as const,
);

describe("the add-ons that are off by default", () => {
  test("have the images that their charts name", () =>
    expect(addonNames.flatMap(addonImages)).toEqual([
      "registry.k8s.io/external-dns/external-dns:v0.19.0",
      "quay.io/jetstack/cert-manager-controller:v1.19.1",
      "quay.io/jetstack/cert-manager-webhook:v1.19.1",
      "quay.io/jetstack/cert-manager-cainjector:v1.19.1",
      "registry.k8s.io/metrics-server/metrics-server:v0.8.0",
    ]));

  test.each(pinned)("have charts of the versions that Git pins in %s, where it pins one", (_, file) => {
    const pins = pinsIn(file);
    const found = addonNames.filter((name) => pins[`${name}_version`] !== undefined);
    expect(found).toContain("metrics_server");
    expect(found.map((name) => [name, addons[name].chart.version])).toEqual(
      found.map((name) => [name, pins[`${name}_version`]]),
    );
  });

  test("are no part of what npm start builds", () => {
    for (const group of addonGroups) expect(goGroups).not.toContain(group);
    for (const name of addonNames) {
      expect(Object.keys(chartVersions)).not.toContain(addons[name].chart.name);
      for (const image of addonImages(name)) expect(Object.values(imageReferences)).not.toContain(image);
    }
  });

  test("name the program of each image among those of its Go module", () => {
    for (const { group, images } of Object.values(addons))
      for (const { program } of Object.values(images)) expect(group.programs).toContain(program);
  });

  test("share one another's versions, so that nothing they share is compiled twice", () => {
    const versions = new Map<string, Set<string>>();
    for (const { mod } of addonGroups)
      for (const [path, version] of mod.versions) versions.set(path, (versions.get(path) ?? new Set()).add(version));
    expect([...versions].filter(([, of]) => of.size > 1)).toEqual([]);
  });
});

describe("names of add-ons", () => {
  test("come back each once, in one order", () =>
    expect(readAddonNames(["cert_manager", "external_dns", "cert_manager"])).toEqual(["external_dns", "cert_manager"]));
  test("that nobody knows are refused with those that are allowed", () =>
    expect(() => readAddonNames(["external-dns", "cert_manager", ""])).toThrow(
      'unknown add-on "external-dns", "": allowed are external_dns, cert_manager, metrics_server',
    ));
});
