/** Fills inputs from the managed resources that they refer to, as upjet's resolvers do: the values are written into the specification. */
import type { Field } from "../../aws/define/fields.ts";
import type { Properties } from "../../aws/properties.ts";
import { crdName, type Kind } from "./kind.ts";
import type { Objects } from "./kube.ts";
import type { Managed } from "./managed.ts";

/** Name of the field that holds the reference for an input; undefined for one that takes none. */
export const referenceName = (name: string, { ref }: Field): string | undefined => (ref ? `${name}Ref` : undefined);

interface Reference {
  readonly name: string;
  /** Default: that of the object. */
  readonly namespace?: string;
}

/** The id of a referenced resource. @throws while it is missing or has none */
async function idOf(objects: Objects, to: string, namespace: string, name: string): Promise<string> {
  const [group = "", kind = ""] = to.split("/");
  const target = await objects.get(crdName({ group, kind }), namespace, name);
  if (!target) throw new Error(`there is no ${to} ${namespace}/${name}`);
  const id = target.status?.atProvider?.["id"];
  if (typeof id !== "string" || id === "")
    throw new Error(`${to} ${namespace}/${name} has no status.atProvider.id yet`);
  return id;
}

/**
 * The inputs of `forProvider` that are not set and that references give; undefined without any.
 * @throws while a reference can't be resolved; trying again may help
 */
export async function resolved(objects: Objects, kind: Kind, managed: Managed): Promise<Properties | undefined> {
  const { forProvider } = managed.spec;
  const values: Properties = {};
  for (const [input, field] of Object.entries(kind.fields)) {
    const name = referenceName(input, field);
    const reference = name && (forProvider[name] as Reference | undefined);
    if (!field.ref || !reference || forProvider[input]) continue;
    try {
      const namespace = reference.namespace ?? managed.metadata.namespace;
      values[input] = await idOf(objects, field.ref, namespace, reference.name);
    } catch (error) {
      throw new Error(`cannot resolve references: spec.forProvider.${input}: ${(error as Error).message}`);
    }
  }
  return Object.keys(values).length > 0 ? values : undefined;
}
