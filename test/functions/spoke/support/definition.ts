import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Schema } from "../../../../lib/openapi.ts";
import type { Manifest } from "../../../repos/support/kustomize.ts";
import { rolePatches } from "../../../support/addon-catalogue.ts";

const platform = join(import.meta.dirname, "..", "..", "..", "..", "repos", "gitops-system", "platform");

export const definition = parse(readFileSync(join(platform, "api", "definition.yaml"), "utf8"));
export const composition = parse(readFileSync(join(platform, "composition", "composition.yaml"), "utf8"));

export const spokeSchema: Schema = definition.spec.versions[0].schema.openAPIV3Schema;

/** Input of the function in the Composition, with the roles of add-ons, which their folders add. */
export const compositionInput = (): Record<string, unknown> => ({
  ...structuredClone(composition.spec.pipeline[0].input),
  addons: Object.fromEntries(Object.entries(rolePatches).map(([addon, [patch]]) => [addon, patch?.value])),
});

/** The CustomResourceDefinition that Crossplane derives, as far as the rules go (crossplane-runtime, pkg/xcrd). */
export function customResourceDefinition(): Manifest {
  const { group, names, scope, versions } = definition.spec;
  const [version] = versions;
  const schema = structuredClone(version.schema.openAPIV3Schema);
  schema.properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", properties: { name: { type: "string", maxLength: 63 } } },
    ...schema.properties,
  };
  schema.properties.spec.properties.crossplane = {
    type: "object",
    properties: { compositionRef: { type: "object", required: ["name"], properties: { name: { type: "string" } } } },
    "x-kubernetes-preserve-unknown-fields": true,
  };
  schema.properties.status.properties.conditions = {
    type: "array",
    items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: definition.metadata.name },
    spec: {
      group,
      names,
      scope,
      versions: [
        {
          name: version.name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: version.additionalPrinterColumns,
        },
      ],
    },
  };
}
