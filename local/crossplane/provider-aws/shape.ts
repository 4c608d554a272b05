/** Between the fields of a managed resource and the properties of its AWS handler. */
import type { Properties } from "../../aws/handler.ts";
import { type Fields, type FieldType, membersOf, specOf } from "./fields.ts";
import type { Kind } from "./kind.ts";

const isBlock = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value of a field as the handler takes it. */
function toProperty(type: FieldType, value: unknown): unknown {
  const members = membersOf(type);
  if (!members) return value;
  if (Array.isArray(value)) {
    const items = value.filter(isBlock).map((item) => toProperties(members, item));
    return typeof type === "object" && "single" in type ? items[0] : items;
  }
  return isBlock(value) ? toProperties(members, value) : undefined;
}

/** Properties of a handler from fields; fields that are no inputs (references, selectors) fall away. */
export function toProperties(fields: Fields, values: Properties): Properties {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const { type, from = name } = specOf(field);
    const value = toProperty(type, values[name]);
    return value === undefined || value === null ? [] : [[from, value] as const];
  });
  return Object.fromEntries(entries);
}

function toField(type: FieldType, value: unknown): unknown {
  const members = membersOf(type);
  if (!members) return type === "number" && typeof value === "string" ? Number(value) : value;
  if (Array.isArray(value)) return value.filter(isBlock).map((item) => toFields(members, item));
  if (!isBlock(value)) return undefined;
  const fields = toFields(members, value);
  return typeof type === "object" && "single" in type ? [fields] : fields;
}

/** Fields from the properties of a handler, without those that are unknown here and those whose value is a secret. */
function toFields(fields: Fields, properties: Properties): Properties {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const { type, from = name, secret } = specOf(field);
    const value = secret ? undefined : toField(type, properties[from]);
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

const regional = (kind: Kind) => kind.handler.regional !== false;

/** `status.atProvider` of a resource. */
export function atProvider(kind: Kind, id: string, actual: Properties, region: string): Properties {
  if (kind.bare) return toFields(kind.status, actual);
  const tags = kind.handler.tagged ? { tags: actual["tagsAll"] ?? {}, tagsAll: actual["tagsAll"] ?? {} } : {};
  return {
    ...toFields({ ...kind.spec, ...kind.status }, actual),
    ...(regional(kind) && { region }),
    ...tags,
    id,
  };
}

/** The properties that `status.atProvider` recorded: what identifies the resource as it was made. */
export function recorded(kind: Kind, status: Properties | undefined): Properties {
  return status ? toProperties({ ...kind.spec, ...kind.status }, status) : {};
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
  const defaults = { ...handler.defaults, ...kind.defaults };
  const top = Object.entries(defaults).filter(([path]) => !path.includes("."));
  const inputs: Properties = { ...Object.fromEntries(top), ...toProperties(kind.spec, spec) };
  for (const [path, value] of Object.entries(defaults)) {
    const [block = "", member] = path.split(".");
    const current = inputs[block];
    if (member && isBlock(current) && current[member] === undefined) inputs[block] = { ...current, [member]: value };
  }
  const tags = handler.tagged ? { tags: spec["tags"] ?? {}, tagsAll: spec["tags"] ?? {} } : {};
  return { ...inputs, ...tags, ...(regional(kind) && { region: spec["region"] }) };
}
