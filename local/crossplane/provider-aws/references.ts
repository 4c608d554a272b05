/** Fills fields from the managed resources that they refer to, as upjet's resolvers do: the values are written into the specification. */
import type { Properties } from "../../aws/handler.ts";
import { type Extract, type Fields, isList, membersOf, type Reference, referenceNames, specOf } from "./fields.ts";
import type { Objects } from "./kube.ts";
import { controllerOf, externalName, type Managed } from "./managed.ts";

interface Policy {
  readonly resolution?: "Required" | "Optional";
  readonly resolve?: "Always" | "IfNotPresent";
}

interface ReferenceValue {
  readonly name: string;
  readonly namespace?: string;
  readonly policy?: Policy;
}

interface Selector {
  readonly matchControllerRef?: boolean;
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly policy?: Policy;
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

/** What is taken from a referenced resource; undefined: it isn't there yet. */
function extract(target: Managed, value: Extract): string | undefined {
  if (value === "external-name") return externalName(target);
  const observed = target.status?.atProvider ?? {};
  if (value === "external-name-if-active") return observed["status"] === "ACTIVE" ? externalName(target) : undefined;
  const found = "observed" in value ? observed[value.observed] : target.spec.forProvider[value.wanted];
  return typeof found === "string" && found !== "" ? found : undefined;
}

const describe = (value: Extract): string => {
  if (value === "external-name") return "external name";
  if (value === "external-name-if-active") return "status ACTIVE";
  return "observed" in value ? `status.atProvider.${value.observed}` : `spec.forProvider.${value.wanted}`;
};

interface Found {
  readonly references: readonly ReferenceValue[];
  readonly values: readonly string[];
}

async function follow(
  resolver: Resolver,
  managed: Managed,
  { to, value = "external-name" }: Reference,
  references: readonly ReferenceValue[],
): Promise<Found> {
  const values = await Promise.all(
    references.map(async ({ name, namespace = managed.metadata.namespace }) => {
      const target = await resolver.objects.get(resolver.crdOf(to), namespace, name);
      if (!target) throw new UnresolvedError(`there is no ${to} ${namespace}/${name}`);
      const found = extract(target, value);
      if (found === undefined) throw new UnresolvedError(`${to} ${namespace}/${name} has no ${describe(value)} yet`);
      return found;
    }),
  );
  return { references, values };
}

async function select(
  resolver: Resolver,
  managed: Managed,
  reference: Reference,
  selector: Selector,
  many: boolean,
): Promise<Found> {
  const { to } = reference;
  const namespace = selector.namespace ?? managed.metadata.namespace;
  const own = controllerOf(managed)?.uid;
  const all = await resolver.objects.list(resolver.crdOf(to), namespace);
  const matching = all.filter((target) => {
    const labels = Object.entries(selector.matchLabels ?? {});
    if (!labels.every(([key, value]) => target.metadata.labels?.[key] === value)) return false;
    return !selector.matchControllerRef || (own !== undefined && controllerOf(target)?.uid === own);
  });
  const names = matching.map(({ metadata }) => metadata.name).sort();
  if (names.length === 0)
    throw new UnresolvedError(`no ${to} in namespace ${namespace} matches the selector ${JSON.stringify(selector)}`);
  const chosen = (many ? names : names.slice(0, 1)).map((name) => ({
    name,
    ...(namespace !== managed.metadata.namespace && { namespace }),
  }));
  return follow(resolver, managed, reference, chosen);
}

const asList = <T>(value: unknown): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as T[]) : [value as T];

/** The members of one block with references resolved; the same object when nothing changed. */
async function resolveBlock(resolver: Resolver, managed: Managed, fields: Fields, block: Properties, path: string) {
  let result = block;
  const set = (name: string, value: unknown) => {
    result = { ...result, [name]: value };
  };
  for (const [name, field] of Object.entries(fields)) {
    const spec = specOf(field);
    const members = membersOf(spec.type);
    const value = block[name];
    if (members && Array.isArray(value)) {
      const items = await Promise.all(
        value.map((item: Properties, i) => resolveBlock(resolver, managed, members, item, `${path}${name}[${i}].`)),
      );
      if (items.some((item, i) => item !== value[i])) set(name, items);
    } else if (members && isBlock(value)) {
      const inner = await resolveBlock(resolver, managed, members, value, `${path}${name}.`);
      if (inner !== value) set(name, inner);
    }
    const names = referenceNames(name, spec);
    if (!spec.reference || !names) continue;
    const many = isList(spec.type);
    const given = asList<ReferenceValue>(block[names[0]]);
    const selector = block[names[1]] as Selector | undefined;
    const policy = given[0]?.policy ?? selector?.policy ?? {};
    const present = asList(value).length > 0 && value !== "";
    if ((given.length === 0 && !selector) || (present && policy.resolve !== "Always")) continue;
    try {
      const usesSelector = selector && (given.length === 0 || selector.policy?.resolve === "Always");
      const found = usesSelector
        ? await select(resolver, managed, spec.reference, selector, many)
        : await follow(resolver, managed, spec.reference, given);
      set(name, many ? found.values : found.values[0]);
      set(names[0], many ? found.references : found.references[0]);
    } catch (error) {
      if (!(error instanceof UnresolvedError)) throw error;
      if (policy.resolution === "Optional") continue;
      throw new UnresolvedError(`cannot resolve references: ${path}${name}: ${error.message}`);
    }
  }
  return result;
}

/** The top-level fields of `forProvider` and `initProvider` that resolving changes; undefined: none. */
export async function resolveReferences(
  resolver: Resolver,
  fields: Fields,
  managed: Managed,
): Promise<{ forProvider?: Properties; initProvider?: Properties } | undefined> {
  const places = ["forProvider", "initProvider"] as const;
  const changes: { forProvider?: Properties; initProvider?: Properties } = {};
  for (const place of places) {
    const block = managed.spec[place];
    if (!block) continue;
    const resolved = await resolveBlock(resolver, managed, fields, block, `spec.${place}.`);
    const changed = Object.entries(resolved).filter(([name, value]) => value !== block[name]);
    if (changed.length > 0) changes[place] = Object.fromEntries(changed);
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}
