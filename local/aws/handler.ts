import { callSettings } from "./call-settings.ts";
import type { Equality } from "./compare.ts";
import type { Aws } from "./connection.ts";
import type { Fields } from "./define/fields.ts";
import type { Case } from "./define/mapping.ts";
import type { CrossplaneTraits } from "./define/resource.ts";

/** Properties of a resource in the camelCase shape of its Terraform schema. */
export type Properties = Record<string, unknown>;

/** How a name is made up when the user gives none. */
interface AutoName {
  readonly property: string;
  /** Longest name that AWS allows. */
  readonly maxLength: number;
}

export interface Change<I> {
  readonly old: I;
  readonly new: I;
  /** True when one of the inputs differs (for tags, `tagsAll` counts). */
  has(...properties: (keyof I & string)[]): boolean;
}

export type Tags = Record<string, string>;

/** Inputs of a taggable resource as a handler gets them: `tagsAll` holds its tags and the provider's default tags. */
export interface Tagged {
  readonly tagsAll?: Tags;
}

export interface Handler<I extends object = Properties> {
  /** Pulumi token, `aws:ec2/vpc:Vpc`. */
  readonly token: string;
  /** What the handler was made of; Crossplane's kinds are made of the same. */
  readonly definition?: { readonly fields: Fields; readonly case: Case; readonly crossplane?: CrossplaneTraits };
  /**
   * Paths of the inputs that the handler honours: `name` (a scalar or a list of scalars), `vpcConfig.subnetIds` (a member of a block
   * or of every block of a list), `labels.*` (a map of scalars). What is not listed is refused, never ignored.
   */
  readonly inputs: readonly string[];
  /** Inputs that AWS fills in when they are not set (Terraform: optional and computed). */
  readonly computed?: readonly string[];
  /** Members that AWS adds to a block of the inputs, `vpcConfig.vpcId`. */
  readonly completed?: readonly string[];
  /** Paths of inputs whose change needs a new resource. */
  readonly replaceOn: readonly string[];
  /** Defaults of the Terraform schema. */
  readonly defaults?: Readonly<Record<string, string | number | boolean>>;
  readonly autoName?: AutoName;
  /** True when the resource takes `tags`. */
  readonly tagged?: boolean;
  /** False for global resources (IAM), which have no input `region`. Default true. */
  readonly regional?: boolean;
  /** How two values of an input (by path) are compared where it is not plain equality. */
  readonly compare?: Readonly<Record<string, Equality>>;
  /** Inputs that AWS does not give back: they keep the value that the user gave. */
  readonly unread?: readonly string[];
  /** Outputs that an update may change. */
  readonly changedByUpdate?: readonly string[];
  /** Values of the output `status` that mean that the creation failed for good: the next run replaces the resource. */
  readonly failed?: readonly string[];
  /** True when old and new cannot exist together, so that a replacement deletes first. */
  readonly deleteBeforeReplace?: boolean;
  /** Mistakes in the inputs that AWS would refuse; unknown values are absent here. */
  validate?(inputs: Partial<I>): { property: string; reason: string }[];
  /** Creates the resource, waits until it is usable and returns its id. */
  create(aws: Aws, inputs: I): Promise<string>;
  /** Waits until an existing resource is usable; fails when it never will be. Absent when AWS makes it usable at once. */
  ready?(aws: Aws, id: string): Promise<unknown>;
  /** What AWS says about the resource, `tagsAll` included; null when it is gone. `last` is the last known state (empty on import). */
  read(aws: Aws, id: string, last: Partial<I> & Properties): Promise<Properties | null>;
  /** Absent when every change needs a replacement. */
  update?(aws: Aws, id: string, change: Change<I>): Promise<void>;
  /** Deletes the resource and waits until it is gone. A resource that is gone already is not an error. */
  delete(aws: Aws, id: string, last: Partial<I> & Properties): Promise<void>;
  /** Turns an import id of Terraform into id and identifying properties, where the two differ. */
  importId?(aws: Aws, importId: string): Promise<{ id: string; properties: Properties }>;
}

/** The resource was made, but not all of it: its id must not be lost. */
export class IncompleteError extends Error {
  override readonly name = "IncompleteError";
  readonly id: string;

  constructor(id: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.id = id;
  }
}

/** Runs the steps that follow the creation of `id` and returns it; when they fail, the error carries the id. */
export async function finishing(id: string | undefined, steps: (id: string) => Promise<unknown>): Promise<string> {
  if (!id) throw new Error("AWS accepted the creation, but returned no id");
  await callSettings().made?.(id);
  try {
    await steps(id);
  } catch (error) {
    throw new IncompleteError(id, error);
  }
  return id;
}

/** Properties of a composite import id; `separator` as in Terraform's documentation of the resource. */
export function splitImportId(importId: string, separator: string, ...properties: string[]): Properties {
  const parts = importId.split(separator);
  if (parts.length < properties.length || parts.slice(0, properties.length).includes(""))
    throw new Error(`import id "${importId}" is not of the form ${properties.map((p) => `<${p}>`).join(separator)}`);
  const last = parts.slice(properties.length - 1).join(separator); // an ARN may hold the separator
  return Object.fromEntries(properties.map((name, i) => [name, i === properties.length - 1 ? last : parts[i]]));
}
