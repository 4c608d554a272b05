/** Fills fields from the managed resources that they refer to, as upjet's resolvers do: the values are written into the specification. */
import { type Field, type Fields, isList, membersOf, type Reference, typeOf } from "../../aws/define/fields.ts";
import type { Properties } from "../../aws/handler.ts";
import type { Objects } from "./kube.ts";
import { externalName, type Managed } from "./managed.ts";

interface ReferenceValue {
  readonly name: string;
  readonly namespace?: string;
}

/** A reference can't be resolved now: what it names is missing, or isn't ready. Trying again may help. */
class UnresolvedError extends Error {
  override readonly name = "UnresolvedError";
}

const isBlock = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What the resolver looks at: objects of other kinds by their CRD. */
export interface Resolver {
  readonly objects: Objects;
  /** CRD of `group/Kind`. */
  crdOf(to: string): string;
}

/** Name of the field that holds the reference, or the references, for a field. */
export function referenceName(name: string, field: Field): string | undefined {
  if (!field.ref || field.out) return undefined;
  return field.ref.as ?? (isList(typeOf(field)) ? `${name.replace(/s$/, "")}Refs` : `${name}Ref`);
}

/** What is taken from a referenced resource; undefined: it isn't there yet. */
function extract(target: Managed, { observed, active }: Reference): string | undefined {
  const { atProvider = {} } = target.status ?? {};
  if (active && atProvider["status"] !== "ACTIVE") return undefined;
  const found = observed === undefined ? externalName(target) : atProvider[observed];
  return typeof found === "string" && found !== "" ? found : undefined;
}

function describe({ observed, active }: Reference): string {
  if (active) return "status ACTIVE";
  return observed === undefined ? "external name" : `status.atProvider.${observed}`;
}

async function follow(resolver: Resolver, managed: Managed, reference: Reference, { name, namespace }: ReferenceValue) {
  const { to } = reference;
  const where = namespace ?? managed.metadata.namespace;
  const target = await resolver.objects.get(resolver.crdOf(to), where, name);
  if (!target) throw new UnresolvedError(`there is no ${to} ${where}/${name}`);
  const found = extract(target, reference);
  if (found === undefined) throw new UnresolvedError(`${to} ${where}/${name} has no ${describe(reference)} yet`);
  return found;
}

const asList = <T>(value: unknown): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as T[]) : [value as T];

/** The members of one block that resolving changes. */
async function resolveBlock(
  resolver: Resolver,
  managed: Managed,
  fields: Fields,
  block: Properties,
  path: string,
): Promise<Properties> {
  const changes: Properties = {};
  for (const [property, field] of Object.entries(fields)) {
    const name = field.crd ?? property;
    const value = block[name];
    const members = membersOf(field);
    if (members && isBlock(value)) {
      const inner = await resolveBlock(resolver, managed, members, value, `${path}${name}.`);
      if (Object.keys(inner).length > 0) changes[name] = { ...value, ...inner };
    }
    const { ref } = field;
    const referenced = referenceName(name, field);
    const given = referenced === undefined ? [] : asList<ReferenceValue>(block[referenced]);
    if (!ref || given.length === 0 || (asList(value).length > 0 && value !== "")) continue;
    try {
      const values = await Promise.all(given.map((one) => follow(resolver, managed, ref, one)));
      changes[name] = isList(typeOf(field)) ? values : values[0];
    } catch (error) {
      if (!(error instanceof UnresolvedError)) throw error;
      throw new UnresolvedError(`cannot resolve references: ${path}${name}: ${error.message}`);
    }
  }
  return changes;
}

/** The top-level fields of `forProvider` and `initProvider` that resolving changes; undefined: none. */
export async function resolveReferences(
  resolver: Resolver,
  fields: Fields,
  managed: Managed,
): Promise<{ forProvider?: Properties; initProvider?: Properties } | undefined> {
  const changes: { forProvider?: Properties; initProvider?: Properties } = {};
  for (const place of ["forProvider", "initProvider"] as const) {
    const changed = await resolveBlock(resolver, managed, fields, managed.spec[place] ?? {}, `spec.${place}.`);
    if (Object.keys(changed).length > 0) changes[place] = changed;
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}
