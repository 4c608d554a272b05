/** OpenAPI v3 schemas as CustomResourceDefinitions have them. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Fills in defaults as the API server does: where a property is absent, from the outside in. A null that the schema does not
 * allow is as good as absent.
 */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withDefaults(schema.items ?? {}, item));
  if (typeof value !== "object" || value === null) return value;
  const { properties = {}, additionalProperties } = schema;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(properties)) {
    if (filled[name] === null && property["nullable"] !== true) delete filled[name];
    if (filled[name] === undefined && property.default !== undefined) filled[name] = structuredClone(property.default);
    if (filled[name] !== undefined) filled[name] = withDefaults(property, filled[name]);
  }
  if (isSchema(additionalProperties))
    for (const name of Object.keys(filled).filter((key) => !Object.hasOwn(properties, key)))
      filled[name] = withDefaults(additionalProperties, filled[name]);
  return filled;
}

const mapped = (schemas: Readonly<Record<string, Schema>>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, inner]) => [name, closed(inner)]));

/** The schema with unknown fields refused, as `kubectl --validate=strict` does. */
export function closed(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties !== undefined;
  return {
    ...schema,
    ...(properties ? { properties: mapped(properties), ...(keepsUnknown ? {} : { additionalProperties: false }) } : {}),
    ...(isSchema(additionalProperties) ? { additionalProperties: closed(additionalProperties) } : {}),
    ...(items ? { items: closed(items) } : {}),
  };
}
