/** The local stack's Crossplane provider takes what the repositories order: fields that its CRDs lack are found here, not on a spoke. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { families, managedCrd } from "@eks-gitops-fleet/local/crossplane";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { Definitions } from "../../cli/check/definitions.ts";
import type { Manifest } from "../../cli/render/files.ts";
import { contractOf } from "../../lib/bridge-keys.ts";

const repos = join(import.meta.dirname, "..", "..", "repos");
const definitions = new Definitions();
for (const kind of Object.values(families).flat()) definitions.add(managedCrd(kind) as unknown as Manifest);

/** A file with the examples of the bridge's contract in place of its variables. */
const withExamples = (file: string): string =>
  readFileSync(join(repos, file), "utf8").replaceAll(
    /\$\{(\w+)\}/g,
    (all, key) => contractOf(key)?.form.example ?? all,
  );

test.each([
  "gitops-workloads/templates/app/aws.yaml",
  "payment-app-manifests/base/queue.yaml",
  "payment-app-manifests/base/table.yaml",
])("the stand-in for Crossplane's AWS provider takes every field of %s", (file) => {
  const ordered = parseAllDocuments(withExamples(file))
    .map((document): Manifest => document.toJS())
    .filter(({ apiVersion }) => apiVersion.includes(".aws.m.upbound.io/"));
  expect(ordered).not.toEqual([]);
  for (const object of ordered) expect(definitions.schemaErrors(object), object.kind).toEqual([]);
});
