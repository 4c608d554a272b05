import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Crd, familyCrds, managedCrd } from "../../../crossplane/provider-aws/crds.ts";
import { crdName, type Kind } from "../../../crossplane/provider-aws/kind.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import type { Schema } from "../../../crossplane/provider-aws/schema.ts";
import { CHECKOUT } from "../../../product-paths.ts";

/** The upstream CRDs are next to the checkout on the machines where the project is developed; no clone has them. */
const shared = process.env["UPSTREAM_CRDS"] ?? join(CHECKOUT, "..", "shared", "crds");
const upstreamFolder = join(shared, "provider-upjet-aws-v2.6.0");
const upstream = new Map<string, Crd>(
  (existsSync(upstreamFolder) ? readdirSync(upstreamFolder) : []).map((file) => {
    const crd = parse(readFileSync(join(upstreamFolder, file), "utf8")) as Crd;
    return [crd.metadata.name, crd];
  }),
);

const schemaOf = (crd: Crd): Schema => crd.spec.versions[0]?.schema.openAPIV3Schema as Schema;

/** Differences of a schema of ours against upstream's, by path: fields that it lacks, other types, other rules. */
function differences(ours: Schema, theirs: Schema | undefined, path: string): string[] {
  if (!theirs) return [`${path} is unknown upstream`];
  const same = ["type", "format", "enum", "x-kubernetes-list-type", "x-kubernetes-map-type", "default"] as const;
  const wrong = same.filter((key) => JSON.stringify(ours[key]) !== JSON.stringify(theirs[key]));
  const rules = (schema: Schema) => (schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule);
  const strict = (schema: Schema) => [...(schema.required ?? []), ...rules(schema)].sort();
  return [
    ...wrong.map((key) => `${path}: ${key} is ${JSON.stringify(ours[key])}, upstream ${JSON.stringify(theirs[key])}`),
    ...strict(ours)
      .filter((item) => !strict(theirs).includes(item))
      .map((item) => `${path} is stricter: ${item}`),
    ...strict(theirs)
      .filter((item) => !strict(ours).includes(item))
      .map((item) => `${path} is laxer: ${item}`),
    ...Object.entries(ours.properties ?? {}).flatMap(([name, schema]) =>
      differences(schema, theirs.properties?.[name], `${path}.${name}`),
    ),
    ...(ours.items ? differences(ours.items, theirs.items, `${path}[]`) : []),
    ...(ours.additionalProperties
      ? differences(ours.additionalProperties, theirs.additionalProperties, `${path}.*`)
      : []),
  ];
}

describe.each(allKinds.map((kind) => [crdName(kind), kind] as const))("%s", (name, kind: Kind) => {
  test("knows no field that upstream doesn't have with the same type", ({ skip }) => {
    if (upstream.size === 0) skip("the upstream CRDs are not on this machine");
    const theirs = upstream.get(name);
    if (!theirs) skip(`the folder of upstream CRDs lacks ${name}`);
    const ours = managedCrd(kind);
    expect(differences(schemaOf(ours), schemaOf(theirs as Crd), "")).toEqual([]);
    expect(ours.spec.scope).toBe(theirs?.spec.scope);
    expect(ours.spec.names.singular).toBe(theirs?.spec.names.singular);
  });
});

test("no schema lets unknown fields pass", () => {
  const crds = [...allKinds.map(managedCrd), ...familyCrds];
  for (const crd of crds) {
    const text = JSON.stringify(crd);
    expect(text, crd.metadata.name).not.toContain("preserve-unknown-fields");
    expect(text, crd.metadata.name).not.toContain("x-kubernetes-int-or-string");
  }
});

test("provider configs are upstream's, without the ways to authenticate that the stand-in does not know", ({
  skip,
}) => {
  if (upstream.size === 0) skip("the upstream CRDs are not on this machine");
  for (const crd of familyCrds) {
    const found = differences(schemaOf(crd), schemaOf(upstream.get(crd.metadata.name) as Crd), "");
    expect(found.filter((line) => !line.startsWith(".spec.credentials.source: enum"))).toEqual([]);
  }
});
