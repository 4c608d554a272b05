import { callSettings } from "./call-settings.ts";
import type { Aws } from "./connection.ts";
import type { CrossplaneTraits } from "./define/crossplane.ts";
import type { Fields, Tables } from "./define/fields.ts";
import type { Case } from "./define/mapping.ts";
import type { Properties } from "./properties.ts";

export interface Change<I> {
  readonly old: I;
  readonly new: I;
  /** True when one of the inputs differs (for tags, `tagsAll` counts). */
  has(...properties: (keyof I & string)[]): boolean;
}

/** What a definition states about a resource besides its fields and calls. */
export interface Traits<I extends object> {
  /** Pulumi token, `aws:ec2/vpc:Vpc`. */
  readonly token: string;
  /** The property that gets a made-up name when the user gives none, and the longest name that AWS allows. */
  readonly autoName?: { readonly property: string; readonly maxLength: number };
  /** False for global resources (IAM), which have no input `region`. Default true. */
  readonly regional?: boolean;
  /** Values of the output `status` that mean that the creation failed for good: the next run replaces the resource. */
  readonly failed?: readonly string[];
  /** True when old and new cannot exist together, so that a replacement deletes first. */
  readonly deleteBeforeReplace?: boolean;
  /** The id, for a resource whose inputs determine it; undefined when some are missing. Absent when AWS assigns the id. */
  idOf?(inputs: Properties): string | undefined;
  /** Mistakes in the inputs that AWS would refuse; unknown values are absent here. */
  validate?(inputs: Partial<I>): { property: string; reason: string }[];
  /** Turns an import id of Terraform into id and identifying properties, where the two differ. */
  importId?(aws: Aws, importId: string): Promise<{ id: string; properties: Properties }>;
}

export interface Handler<I extends object = Properties>
  extends Traits<I>,
    Pick<Tables, "inputs" | "replaceOn">,
    Partial<Omit<Tables, "inputs" | "replaceOn">> {
  /** The definition behind the handler; Crossplane's kinds are derived from it too. */
  readonly definition?: { readonly fields: Fields; readonly case: Case; readonly crossplane?: CrossplaneTraits };
  /** True when the resource takes `tags`. */
  readonly tagged?: boolean;
  /** Creates the resource, waits until it is usable and returns its id. */
  create(aws: Aws, inputs: I): Promise<string>;
  /** Waits until an existing resource is usable; fails when it never will be. Absent when AWS makes it usable at once. */
  ready?(aws: Aws, id: string): Promise<unknown>;
  /** The properties that AWS reports, `tagsAll` included; null when it is gone. `last` is the last known state (empty on import). */
  read(aws: Aws, id: string, last: Partial<I> & Properties): Promise<Properties | null>;
  /** Absent when every change needs a replacement. */
  update?(aws: Aws, id: string, change: Change<I>): Promise<void>;
  /** Deletes the resource and waits until it is gone. A resource that is gone already is not an error. */
  delete(aws: Aws, id: string, last: Partial<I> & Properties): Promise<void>;
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

/** Ids that join several properties with a separator, as Terraform documents for the resource. */
export const composite = <N extends string>(separator: string, ...names: N[]) => ({
  idOf: (properties: Properties): string | undefined => {
    const parts = names.map((name) => properties[name]);
    return parts.includes(undefined) ? undefined : parts.join(separator);
  },
  /** The properties of an id. @throws for one of another form */
  partsOf: (id: string): Record<N, string> => {
    const parts = id.split(separator);
    if (parts.length < names.length || parts.slice(0, names.length).includes(""))
      throw new Error(`id "${id}" is not of the form ${names.map((name) => `<${name}>`).join(separator)}`);
    const last = parts.slice(names.length - 1).join(separator); // an ARN may hold the separator
    const entries = names.map((name, i) => [name, i === names.length - 1 ? last : parts[i]] as const);
    return Object.fromEntries(entries) as Record<N, string>;
  },
});
