import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { Definitions } from "../../cli/check/definitions.ts";
import { isManifest, isObject, type Manifest } from "../../cli/render/files.ts";
import { exampleNames } from "../functions/spoke/support/fixtures.ts";
import { upstreamCrds } from "../support/upstream-crds.ts";
import { build } from "./support/kustomize.ts";
import { render, system, withAddons } from "./support/spoke.ts";

/**
 * Our objects of External Secrets' API against the CustomResourceDefinitions of several versions: production's and the local stack's
 * differ.
 */

const root = join(import.meta.dirname, "..", "..");
const folders = upstreamCrds("external-secrets-");

const isOurs = (value: unknown): value is Manifest =>
  isManifest(value) && value.apiVersion.startsWith("external-secrets.io/");

/** Objects of the API anywhere in what the program makes. */
const inside = (value: unknown): Manifest[] => {
  if (Array.isArray(value)) return value.flatMap(inside);
  if (isOurs(value)) return [value];
  return isObject(value) ? Object.values(value).flatMap(inside) : [];
};

const hub = parse(readFileSync(join(root, "test", "infra", "golden", "dev.yaml"), "utf8"));
const onTheHub = inside(hub);
const onSpokes = exampleNames.flatMap((name) =>
  render(withAddons(name, [])).applied.flatMap(({ objects }) => objects.filter(isOurs)),
);
const objects = [...onTheHub, ...onSpokes];

test("the program and Git write stores and ExternalSecrets of one version of the API", () => {
  expect(onTheHub.length * onSpokes.length).toBeGreaterThan(0);
  expect(new Set(objects.map(({ apiVersion }) => apiVersion))).toEqual(new Set(["external-secrets.io/v1"]));
  expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(["SecretStore", "ExternalSecret"]));
});

describe("the controllers of secrets", () => {
  const releases = [
    ...render(withAddons("minimal", [])).applied.flatMap(({ objects: applied }) => applied),
    ...build(join(system, "platform", "hub", "sealed-secrets", "release")),
  ].filter(({ kind }) => kind === "HelmRelease");
  const valuesOf = (name: string) =>
    releases.filter(({ spec }) => spec.releaseName === name).map(({ spec }) => spec.values);
  const ofHub = hub["kubernetes:helm.sh/v3:Release::external-secrets-release"].inputs.values;

  test("on a spoke: serve the namespace of the sealing keys alone, where every store of a spoke is", () => {
    const scope = { scopedNamespace: "sealed-secrets", scopedRBAC: true };
    const [values] = valuesOf("external-secrets");
    expect({ scopedNamespace: values.scopedNamespace, scopedRBAC: values.scopedRBAC }).toEqual(scope);
    expect(new Set(onSpokes.map(({ metadata }) => metadata.namespace))).toEqual(new Set([scope.scopedNamespace]));
  });

  test("have a memory limit, on the hub and on spokes", () => {
    const all = [...valuesOf("external-secrets"), ofHub, ...valuesOf("sealed-secrets")];
    expect(all).toHaveLength(4);
    for (const { resources } of all) expect(resources.limits.memory).toMatch(/^\d+Mi$/);
  });

  test("are probed: the chart of Sealed Secrets does so by default", () => {
    for (const values of [...valuesOf("external-secrets"), ofHub])
      expect(values).toMatchObject({ livenessProbe: { enabled: true } });
  });
});

describe.each(folders)("the definitions in %s", (folder) => {
  test("know every field of our objects, and serve their version", () => {
    const definitions = new Definitions([folder]);
    for (const object of objects) {
      expect(definitions.schemaErrors(object), `${object.kind} ${object.metadata.name}`).toEqual([]);
      const served = definitions.find("external-secrets.io", object.kind)?.versions.filter((each) => each.served);
      expect(served?.map(({ name }) => `external-secrets.io/${name}`)).toContain(object.apiVersion);
    }
  });

  test("refuse a field that there is not", () => {
    const [object] = objects;
    const wrong = { ...object, spec: { ...object?.spec, unheardOf: 1 } } as Manifest;
    expect(new Definitions([folder]).schemaErrors(wrong)).not.toEqual([]);
  });
});
