/** OpenAPI schemas of managed resources. Structural without unknown fields: the API server prunes or refuses what is not listed. */
import { type Field, type Fields, typeOf } from "../../aws/define/fields.ts";
import type { Kind } from "./kind.ts";
import { referenceName } from "./references.ts";
import { secretReferenceName } from "./secrets.ts";

/** The part of the JSON schema dialect of CustomResourceDefinitions that is used here. */
export interface Schema {
  readonly type: "object" | "array" | "string" | "number" | "integer" | "boolean";
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly "x-kubernetes-list-type"?: "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "granular";
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string; readonly message: string }[];
}

const text: Schema = { type: "string" };

export const object = (properties: Readonly<Record<string, Schema>>, more: Partial<Schema> = {}): Schema => ({
  type: "object",
  properties,
  ...more,
});

const list = (items: Schema, more: Partial<Schema> = {}): Schema => ({ type: "array", items, ...more });

const textMap: Schema = { type: "object", additionalProperties: text, "x-kubernetes-map-type": "granular" };

const referenceSchema = object({ name: text, namespace: text }, { required: ["name"] });

/** What differs between the three places where fields stand. */
type Place = "forProvider" | "initProvider" | "atProvider";

function typeSchema(field: Field, place: Place): Schema {
  const type = typeOf(field);
  if (type === "strings") return list(text);
  if (type === "set") return list(text, { "x-kubernetes-list-type": "set" });
  if (type === "map") return textMap;
  if (typeof type !== "object") return { type };
  if ("block" in type) return object(properties(type.block, place));
  return list(object(properties("blocks" in type ? type.blocks : type.single, place)));
}

const keyReference = object({ key: text, name: text }, { required: ["key", "name"] });

/** In the place of a secret input: where it stands, and whether the provider generates it. */
function secretSchemas(name: string, generate: string, place: Place): [string, Schema][] {
  if (place === "atProvider") return [];
  return [
    [secretReferenceName(name), keyReference],
    ...(place === "forProvider" ? [[generate, { type: "boolean" }] satisfies [string, Schema]] : []),
  ];
}

function properties(fields: Fields, place: Place): Record<string, Schema> {
  const entries = Object.entries(fields).flatMap(([property, field]): [string, Schema][] => {
    const { crd: name = property, format, crdDefault: value, secret } = field;
    if (secret) return secretSchemas(property, secret.generate, place);
    if (name === null || (place !== "atProvider" && (field.out || field.observed))) return [];
    if (place === "initProvider" && field.identifier) return [];
    const schema = { ...typeSchema(field, place), ...(format && { format }), ...(value && { default: value }) };
    const reference = place === "atProvider" ? undefined : referenceName(name, field);
    return [[name, schema], ...(reference ? [[reference, referenceSchema] satisfies [string, Schema]] : [])];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isRegional = (kind: Kind): boolean => kind.handler.regional !== false;

/** Fields that every kind of its sort has. */
const common = (kind: Kind): Fields => ({
  ...(isRegional(kind) && { region: { identifier: "required" } as const }),
  ...(kind.handler.tagged && { tags: { type: "map" } as const }),
});

/** Required in forProvider itself. */
const requiredParameters = (fields: Fields): string[] =>
  Object.entries(fields).flatMap(([name, { identifier }]) => (identifier === "required" ? [name] : []));

/** Fields without which a resource can be observed, but neither made nor changed. */
const rules = (kind: Kind) =>
  Object.entries(kind.fields)
    .filter(([, { required }]) => required)
    .map(([property, { crd }]) => crd ?? property)
    .map((name) => ({
      rule:
        "!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || " +
        `has(self.forProvider.${inCel(name)}) || (has(self.initProvider) && has(self.initProvider.${inCel(name)}))`,
      message: `spec.forProvider.${name} is a required parameter`,
    }));

/** A property as CEL rules name it: reserved words are escaped (Kubernetes documentation, "Validation rules"). */
const inCel = (property: string): string => (property === "namespace" ? "__namespace__" : property);

export const conditions = list(
  object(
    {
      lastTransitionTime: { type: "string", format: "date-time" },
      message: text,
      observedGeneration: { type: "integer", format: "int64" },
      reason: text,
      status: text,
      type: text,
    },
    { required: ["lastTransitionTime", "reason", "status", "type"] },
  ),
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);

export const objectMeta: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: { type: "object" },
};

/** The schema of a kind of managed resource. */
export function managedSchema(kind: Kind): Schema {
  const fields = { ...common(kind), ...kind.fields };
  const required = requiredParameters(fields);
  const validations = rules(kind);
  const spec = object(
    {
      forProvider: object(properties(fields, "forProvider"), required.length > 0 ? { required } : {}),
      ...(kind.bare ? {} : { initProvider: object(properties(fields, "initProvider")) }),
      managementPolicies: list(
        { type: "string", enum: ["Observe", "Create", "Update", "Delete", "LateInitialize", "*"] },
        { default: ["*"] },
      ),
      providerConfigRef: object(
        { kind: text, name: text },
        { default: { kind: "ClusterProviderConfig", name: "default" }, required: ["kind", "name"] },
      ),
      writeConnectionSecretToRef: object({ name: text }, { required: ["name"] }),
    },
    { required: ["forProvider"], ...(validations.length > 0 && { "x-kubernetes-validations": validations }) },
  );
  const outputs = Object.fromEntries(Object.entries(kind.fields).filter(([, { out }]) => out));
  const observed: Fields = kind.bare
    ? outputs
    : { ...fields, id: {}, ...(kind.handler.tagged && { tagsAll: { type: "map" } as const }) };
  const status = object({
    atProvider: object(properties(observed, "atProvider")),
    conditions,
    observedGeneration: { type: "integer", format: "int64" },
  });
  return object({ ...objectMeta, spec, status }, { required: ["spec"] });
}
