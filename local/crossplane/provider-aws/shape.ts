/** Between the fields of a managed resource and the properties of its AWS handler. */
import { isBlock } from "../../aws/compare.ts";
import { type Field, type Fields, membersOf } from "../../aws/define/fields.ts";
import { withDefaults } from "../../aws/lifecycle.ts";
import type { Properties } from "../../aws/properties.ts";
import type { Kind } from "./kind.ts";

/** A value of a field as the handler takes it. */
function toProperty(field: Field, value: unknown): unknown {
  const members = membersOf(field);
  if (!members) return value;
  if (Array.isArray(value)) {
    const items = value.filter(isBlock).map((item) => toProperties(members, item));
    return isSingle(field) ? items[0] : items;
  }
  return isBlock(value) ? toProperties(members, value) : undefined;
}

const isSingle = (field: Field): boolean => typeof field.type === "object" && "single" in field.type;

/** Properties of a handler from fields; fields that are no inputs (references) fall away. */
export function toProperties(fields: Fields, values: Properties): Properties {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const value = toProperty(field, values[field.crd ?? name]);
    return value === undefined || value === null || field.crd === null || field.secret ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function toField(field: Field, value: unknown): unknown {
  const members = membersOf(field);
  if (!members) return field.type === "number" && typeof value === "string" ? Number(value) : value;
  if (Array.isArray(value)) return value.filter(isBlock).map((item) => toFields(members, item));
  if (!isBlock(value)) return undefined;
  return isSingle(field) ? [toFields(members, value)] : toFields(members, value);
}

/** Fields from the properties of a handler, without those that are unknown here. */
function toFields(fields: Fields, properties: Properties): Properties {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const value = toField(field, properties[name]);
    const isHidden = field.crd === null || field.secret !== undefined;
    return value === undefined || value === null || isHidden ? [] : [[field.crd ?? name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The fields of a specification: what a handler takes, and the CRD offers. */
export const specFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, { out, observed, crd }]) => !out && !observed && crd !== null));

const outputs = (fields: Fields): Fields => Object.fromEntries(Object.entries(fields).filter(([, { out }]) => out));

const regional = (kind: Kind) => kind.handler.regional !== false;

/** `status.atProvider` of a resource. */
export function atProvider(kind: Kind, id: string, actual: Properties, region: string): Properties {
  if (kind.bare) return toFields(outputs(kind.fields), actual);
  const tags = kind.handler.tagged ? { tags: actual["tagsAll"] ?? {}, tagsAll: actual["tagsAll"] ?? {} } : {};
  return {
    ...toFields(kind.fields, actual),
    ...(regional(kind) && { region }),
    ...tags,
    id,
  };
}

/** What AWS has, in the form of `spec.forProvider`. */
export const observedParameters = (kind: Kind, actual: Properties): Properties => ({
  ...toFields(specFields(kind.fields), actual),
  ...(kind.handler.tagged && { tags: actual["tagsAll"] ?? {} }),
});

/** The properties that `status.atProvider` recorded: what identifies the resource as it was made. */
export function recorded(kind: Kind, status: Properties | undefined): Properties {
  return status ? toProperties(kind.fields, status) : {};
}

/** `initProvider` under `forProvider`: what both set is `forProvider`'s, blocks member by member. */
export function mergeSpec(init: Properties | undefined, wanted: Properties): Properties {
  if (!init) return wanted;
  const merged = Object.entries(wanted).map(([name, value]) => {
    const other = init[name];
    return [name, isBlock(value) && isBlock(other) ? mergeSpec(other, value) : value] as const;
  });
  return { ...init, ...Object.fromEntries(merged) };
}

/** The handler's inputs for a specification: defaults of Terraform filled in, all tags as `tagsAll`. */
export function inputsOf(kind: Kind, spec: Properties): Properties {
  const { handler } = kind;
  const inputs = withDefaults(handler, toProperties(specFields(kind.fields), spec));
  const tags = handler.tagged ? { tags: spec["tags"] ?? {}, tagsAll: spec["tags"] ?? {} } : {};
  return { ...inputs, ...tags, ...(regional(kind) && { region: spec["region"] }) };
}
