import { ackDefinitions } from "@eks-gitops-fleet/local/ack";

/** What a manifest of ACK's kinds has that the kind does not. */

type Schema = Readonly<Record<string, unknown>>;

/** Paths of a manifest's spec that the kind does not have. */
export function unknownFields({
  apiVersion,
  kind,
  spec,
}: {
  apiVersion: string;
  kind: string;
  spec?: unknown;
}): string[] {
  const known = ackDefinitions.find(
    (each) => each.spec.names.kind === kind && apiVersion === `${each.spec.group}/v1alpha1`,
  );
  const schema = known?.spec.versions[0]?.schema.openAPIV3Schema.properties as { spec?: Schema } | undefined;
  if (schema?.spec === undefined) throw new Error(`${apiVersion} ${kind} is not defined here`);
  return unknownIn(spec, schema.spec, "spec");
}

function unknownIn(value: unknown, schema: Schema, path: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((each, index) => unknownIn(each, schema["items"] as Schema, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return typeof value === schema["type"] ? [] : [path];
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const rest = schema["additionalProperties"] as Schema | undefined;
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = properties[name] ?? rest;
    return field === undefined ? [`${path}.${name}`] : unknownIn(inner, field, `${path}.${name}`);
  });
}
