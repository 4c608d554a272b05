import type { Schema } from "./openapi.ts";

const reference = { type: "object", required: ["name"], properties: { name: { type: "string" } } };

/** What Crossplane adds to the specification of a composite resource, as far as rules name it (crossplane-runtime v2, pkg/xcrd/schemas.go). */
const machinery: Schema = {
  type: "object",
  properties: { compositionRef: reference, compositionRevisionRef: reference },
  "x-kubernetes-preserve-unknown-fields": true,
};

/** The schema of a composite resource with what Crossplane adds to the one in its CompositeResourceDefinition. */
export function withMachinery(schema: Schema): Schema {
  const spec = schema.properties?.["spec"];
  if (!spec) return schema;
  const whole = { ...spec, properties: { ...spec.properties, crossplane: machinery } };
  return { ...schema, properties: { ...schema.properties, spec: whole } };
}
