/** The shape of a managed resource's `spec.forProvider` and `status.atProvider`, as data: the CRDs and the mapping to the AWS handlers are made of it. */

type Scalar = "string" | "number" | "boolean";

/** Type of a field. `strings` keeps its order, `set` has none; `map` has texts as values. */
export type FieldType =
  | Scalar
  | "strings"
  | "set"
  | "map"
  | { readonly block: Fields }
  | { readonly blocks: Fields }
  /** A block that upstream shows as a list of one. */
  | { readonly single: Fields };

export interface FieldSpec {
  readonly type: FieldType;
  /** Name of the handler's property; default: the field's own name. */
  readonly from?: string;
  /** Refused when the resource is made or changed without it. */
  readonly required?: true;
  /** Part of the resource's identity: no field of `initProvider`. */
  readonly identifier?: true;
  /** Can be taken from another managed resource. */
  readonly reference?: Reference;
  readonly format?: "date-time";
  readonly default?: string;
  /** The value stands in a Secret; the field is `<name>SecretRef`, and no status shows the value. */
  readonly secret?: true;
}

export type Fields = Readonly<Record<string, FieldType | FieldSpec>>;

/** What of the referenced resource is taken. */
export type Extract =
  /** The annotation `crossplane.io/external-name`. */
  | "external-name"
  /** The same, once the cluster is ACTIVE. */
  | "external-name-if-active"
  /** A field of its `status.atProvider`. */
  | { readonly observed: string }
  /** A field of its `spec.forProvider`. */
  | { readonly wanted: string };

export interface Reference {
  /** Group (short) and kind of the referenced resource. */
  readonly to: string;
  /** Default: the external name. */
  readonly value?: Extract;
  /** Names of the fields for reference and selector, where they don't follow from the field's name. */
  readonly names?: readonly [reference: string, selector: string];
}

export const arn: Extract = { observed: "arn" };
export const id: Extract = { observed: "id" };

/** A field whose value can come from another resource. */
export const reference = (to: string, value?: Extract, more: Partial<FieldSpec> = {}): FieldSpec => ({
  type: "string",
  ...more,
  reference: { to, ...(value && { value }) },
});

/** A set of texts that can come from other resources. */
export const references = (to: string): FieldSpec => ({ type: "set", reference: { to } });

export const required = (type: FieldType, more: Partial<FieldSpec> = {}): FieldSpec => ({
  ...more,
  type,
  required: true,
});

/** A field under another name than the handler's. */
export const from = (property: string, type: FieldType, more: Partial<FieldSpec> = {}): FieldSpec => ({
  ...more,
  type,
  from: property,
});

/** A field in its long form. */
export function specOf(field: FieldType | FieldSpec): FieldSpec {
  return typeof field === "object" && "type" in field ? field : { type: field };
}

/** The fields of a block, a list of blocks, or a block shown as a list; undefined for other types. */
export function membersOf(type: FieldType): Fields | undefined {
  if (typeof type !== "object") return undefined;
  if ("block" in type) return type.block;
  return "blocks" in type ? type.blocks : type.single;
}

export const isList = (type: FieldType): boolean =>
  type === "strings" || type === "set" || (typeof type === "object" && !("block" in type));

/** Names of the fields that hold a reference and a selector for the field `name`. */
export function referenceNames(name: string, { type, reference }: FieldSpec): readonly [string, string] | undefined {
  if (!reference) return undefined;
  if (reference.names) return reference.names;
  const one = isList(type) ? name.replace(/s$/, "") : name;
  return [isList(type) ? `${one}Refs` : `${one}Ref`, `${one}Selector`];
}
