/** Fields of a resource, as data: its AWS calls, the Pulumi plugin's checks and the Crossplane provider's CRDs are made of them. */

import { type Equality, sameSet } from "../compare.ts";
import type { Aws } from "../connection.ts";
import type { Tagged, Tags } from "../properties.ts";

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
  /** AWS does not return it: the state keeps the user's value. */
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
  /**
   * In the CRD it is a reference to a key in a Secret of the namespace, `<name>SecretRef`, and shown nowhere; `generate` is the field that
   * has the provider generate it.
   */
  readonly secret?: { readonly generate: string };
  /** Upstream refuses to make or change the resource without it. */
  readonly required?: true;
  /** Part of the identity, so not in `initProvider`; `required` in `forProvider` where upstream has no reference for it. */
  readonly identifier?: true | "required";
  /** Group and kind of the managed resource whose id it can be taken from, `iam/Role`. */
  readonly ref?: string;
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

type Entry = readonly [path: string, field: Field];

/** Each field and member with its path, `vpcConfig.subnetIds`. */
const flat = (fields: Fields, prefix = ""): Entry[] =>
  Object.entries(fields).flatMap(([name, field]) => [
    [prefix + name, field],
    ...flat(membersOf(field) ?? {}, `${prefix}${name}.`),
  ]);

const pathsWhere = (entries: readonly Entry[], holds: (field: Field) => unknown): readonly string[] =>
  entries.flatMap(([path, field]) => (holds(field) ? [path] : []));

const valuesOf = <T>(entries: readonly Entry[], of: (field: Field) => T | undefined): Readonly<Record<string, T>> =>
  Object.fromEntries(
    entries.flatMap(([path, field]): [string, T][] => {
      const value = of(field);
      return value === undefined ? [] : [[path, value]];
    }),
  );

/** What readers of a resource ask of its fields, by path. */
export function tablesOf(fields: Fields) {
  const all = flat(fields);
  const offered = flat(Object.fromEntries(Object.entries(fields).filter(([, field]) => !field.out)));
  const settable = offered.filter(([, field]) => !field.out);
  return {
    /**
     * Paths of the inputs that the handler honours: `name` (a scalar or a list of scalars), `vpcConfig.subnetIds` (a member of a
     * block or of every block of a list), `labels.*` (a map of scalars). What is not listed is refused, never ignored.
     */
    inputs: settable.flatMap(([path, field]) => {
      if (membersOf(field)) return [];
      return typeOf(field) === "map" ? `${path}.*` : path;
    }) as readonly string[],
    /** Inputs that AWS fills in when they are not set (Terraform: optional and computed). */
    computed: pathsWhere(settable, (field) => field.computed),
    /** Members that AWS adds to a block of the inputs, `vpcConfig.vpcId`. */
    completed: pathsWhere(offered, (field) => field.out),
    /** Inputs whose change needs a new resource. */
    replaceOn: pathsWhere(settable, (field) => field.fixed),
    /** Inputs that AWS does not return: the state keeps the user's value. */
    unread: pathsWhere(settable, (field) => field.unread),
    /** Outputs, and inputs that AWS alone may set later, that an update may change. */
    changedByUpdate: pathsWhere(all, (field) => field.updated),
    /** Defaults of the Terraform schema. */
    defaults: valuesOf(settable, (field) => field.default),
    /** How two values of an input are compared where it is not plain equality. */
    compare: valuesOf(
      settable,
      (field) => field.same ?? (field.type === "set" || field.unordered ? sameSet : undefined),
    ),
  };
}

export type Tables = ReturnType<typeof tablesOf>;
