/** Fields of a resource, as data: its AWS calls, the Pulumi plugin's checks and the Crossplane provider's CRDs are made of them. */

import { type Equality, sameSet } from "../compare.ts";
import type { Aws } from "../connection.ts";
import type { Tagged, Tags } from "../handler.ts";

/** Type of a field. `strings` keeps its order, `set` has none; `map` has texts as values. */
export type FieldType =
  | "string"
  | "number"
  | "boolean"
  | "strings"
  | "set"
  | "map"
  | { readonly block: Fields }
  | { readonly blocks: Fields }
  /** A block that upstream's CRD shows as a list of one. */
  | { readonly single: Fields };

/** A resource, or a part of it, as AWS describes it. */
export type Item = Readonly<Record<string, unknown>>;

/** What a value can be worked out from, besides the item that it stands in. */
export interface Source {
  readonly aws: Aws;
  readonly id: string;
  /** The last known state. */
  readonly last: Item;
}

export interface Field {
  /** Default: string. */
  readonly type?: FieldType;
  /** Name in AWS's requests and answers; default: the field's own, in the service's case. `null`: it stands in neither. */
  readonly api?: string | null;
  /** Its value in AWS's answer, where it does not stand under its name. */
  readonly get?: (item: Item, source: Source) => unknown;
  /** Its value in a request, where it is not the input itself. */
  readonly put?: (value: never) => unknown;
  /** AWS alone sets it. */
  readonly out?: true;
  /** A change needs a new resource. */
  readonly fixed?: true;
  /** AWS fills it in when it is not set. */
  readonly computed?: true;
  /** AWS does not give it back: it keeps the value that the user gave. */
  readonly unread?: true;
  /** An output that an update may change. */
  readonly updated?: true;
  /** Default of the Terraform schema. */
  readonly default?: string | number | boolean;
  /** How two values are compared where it is neither plain equality nor a set. */
  readonly same?: Equality;
  /** Of blocks: their order does not count. */
  readonly unordered?: true;
  /** Name in the CRD, where it is not that of Pulumi. `null`: the CRD does not have it. */
  readonly crd?: string | null;
  /** In Pulumi an input, in the CRD an output. */
  readonly observed?: true;
  /** Upstream refuses to make or change the resource without it. */
  readonly required?: true;
  /** Part of the resource's identity: not in `initProvider`. Required in `forProvider` itself where upstream has no reference for it. */
  readonly identifier?: true | "required";
  readonly format?: "date-time";
  /** Default in the CRD. */
  readonly crdDefault?: string;
}

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<T> = T extends "number"
  ? number
  : T extends "boolean"
    ? boolean
    : T extends "strings" | "set"
      ? string[]
      : T extends "map"
        ? Tags
        : T extends { block: infer F }
          ? MembersOf<F>
          : T extends { blocks: infer F }
            ? MembersOf<F>[]
            : string;

type MembersOf<F> = { [K in keyof F]?: ValueOf<F[K] extends { type: infer T } ? T : "string"> };

/** Inputs of a resource with these fields. */
export type InputsOf<F> = MembersOf<F> & Pick<Tagged, "tagsAll">;

export const fixed = true;
export const computed = true;

/** A field that AWS alone sets; `get` where it does not stand under its own name. */
export const out = (get?: string | Field["get"], more: Field = {}): Field => ({
  ...more,
  out: true,
  ...(typeof get === "string" ? { api: get } : get && { get }),
});

export const typeOf = ({ type = "string" }: Field): FieldType => type;

/** The fields of a block, a list of blocks, or a block shown as a list; undefined for other types. */
export function membersOf(field: Field): Fields | undefined {
  const type = typeOf(field);
  if (typeof type !== "object") return undefined;
  if ("block" in type) return type.block;
  return "blocks" in type ? type.blocks : type.single;
}

/** Calls `visit` for each field and member by its path, `vpcConfig.subnetIds`. */
function walk(fields: Fields, visit: (path: string, field: Field) => void, prefix = ""): void {
  for (const [name, field] of Object.entries(fields)) {
    visit(prefix + name, field);
    walk(membersOf(field) ?? {}, visit, `${prefix}${name}.`);
  }
}

/** The tables of a handler that follow from its fields. */
export function tablesOf(fields: Fields) {
  const inputs: string[] = [];
  const found = {
    computed: [] as string[],
    completed: [] as string[],
    replaceOn: [] as string[],
    unread: [] as string[],
    changedByUpdate: [] as string[],
    defaults: {} as Record<string, string | number | boolean>,
    compare: {} as Record<string, Equality>,
  };
  walk(fields, (path, field) => {
    const outer = fields[path.split(".")[0] as string];
    if (field.updated) found.changedByUpdate.push(path);
    if (outer?.out) return;
    if (field.out) return void found.completed.push(path);
    const type = typeOf(field);
    if (!membersOf(field)) inputs.push(type === "map" ? `${path}.*` : path);
    if (field.computed) found.computed.push(path);
    if (field.fixed) found.replaceOn.push(path);
    if (field.unread) found.unread.push(path);
    if (field.default !== undefined) found.defaults[path] = field.default;
    const same = field.same ?? (type === "set" || field.unordered ? sameSet : undefined);
    if (same) found.compare[path] = same;
  });
  // `changedByUpdate` names inputs too: what AWS alone may set later.
  return { inputs, ...found };
}
