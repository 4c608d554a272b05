/** The local stack's Crossplane provider takes what the repositories order: fields that its CRDs lack are found here, not on a spoke. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { families, managedCrd } from "@eks-gitops-fleet/local/crossplane";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}
interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const repos = join(import.meta.dirname, "..", "..", "repos");
const definitions = new Map(
  Object.values(families)
    .flat()
    .map((kind) => managedCrd(kind) as unknown as Definition)
    .map(({ spec }) => [`${spec.group}/${spec.names.kind}`, spec.versions[0]?.schema.openAPIV3Schema] as const),
);

/** Paths of a value that its schema does not have. */
function unknown(value: unknown, schema: Schema | undefined, path: string): string[] {
  if (!schema) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => unknown(item, schema.items, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    unknown(member, schema.properties?.[name] ?? schema.additionalProperties, `${path}.${name}`),
  );
}

test.each([
  "gitops-workloads/templates/app/aws.yaml",
  "payment-app-manifests/base/queue.yaml",
  "payment-app-manifests/base/table.yaml",
])("the stand-in for Crossplane's AWS provider takes every field of %s", (file) => {
  const ordered = parseAllDocuments(readFileSync(join(repos, file), "utf8"))
    .map((document) => document.toJS())
    .filter(({ apiVersion }) => apiVersion.includes(".aws.m.upbound.io/"));
  expect(ordered).not.toEqual([]);
  expect(
    ordered.flatMap(({ apiVersion, kind, spec }) =>
      unknown(spec, definitions.get(`${apiVersion.split("/")[0]}/${kind}`)?.properties?.["spec"], `${kind} spec`),
    ),
  ).toEqual([]);
});
