import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const api = join(import.meta.dirname, "..", "..", "..", "..", "repos", "gitops-system", "platform", "api");

/** An OpenAPI v3 schema, as far as the tests look into it. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

export const definition = parse(readFileSync(join(api, "definition.yaml"), "utf8"));
export const composition = parse(readFileSync(join(api, "composition.yaml"), "utf8"));

export const spokeSchema: Schema = definition.spec.versions[0].schema.openAPIV3Schema;

/** Input of the function in the Composition. */
export const compositionInput = (): Record<string, unknown> => structuredClone(composition.spec.pipeline[0].input);

/** Fills in defaults as the API server does: where a property is absent, from the outside in. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema.items ?? {}, item));
  if (typeof value !== "object" || value === null) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (filled[name] === undefined && property.default !== undefined) filled[name] = structuredClone(property.default);
    if (filled[name] !== undefined) filled[name] = withDefaults(property, filled[name]);
  }
  return filled;
}

/** The CustomResourceDefinition that Crossplane derives, as far as the rules go (crossplane-runtime, pkg/xcrd). */
export function customResourceDefinition(): object {
  const { group, names, scope, versions } = definition.spec;
  const [version] = versions;
  const schema = structuredClone(version.schema.openAPIV3Schema);
  schema.properties = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object", properties: { name: { type: "string", maxLength: 63 } } },
    ...schema.properties,
  };
  schema.properties.spec.properties.crossplane = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
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
