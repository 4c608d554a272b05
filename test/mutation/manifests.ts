import { isObject, type Manifest, type Path } from "../../cli/render/files.ts";
import { celMutants } from "./cel.ts";

/** Mutants of a manifest: of its expressions, and of what it grants, limits or switches on. */

/** A value in a manifest and what stands in its place. */
export interface Change {
  readonly path: Path;
  readonly what: string;
  /** Undefined: nothing stands there. */
  readonly value: unknown;
}

/** An expression and its mutants. What it says when it refuses is not a part: words may change. */
const expressions = (path: Path, expression: string): Change[] =>
  celMutants(expression).map(({ what, text }) => ({ path, what, value: text }));

const inline = (value: unknown): string =>
  isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);

/** Every member and item below a value left out, every switch the other way. */
function without(value: unknown, path: Path): Change[] {
  if (typeof value === "boolean") return [{ path, what: `${path.at(-1)}: ${value} -> ${!value}`, value: !value }];
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = [...path, isList ? Number(key) : key];
    const what = `without ${isList ? `${path.at(-1)}: ` : `${key}: `}${inline(inner)}`;
    return [{ path: place, what, value: undefined }, ...without(inner, place)];
  });
}

/** The same of one member of an object, if it has it. */
const below = (object: unknown, path: Path): Change[] => {
  const value = path.reduce<unknown>((each, key) => (isObject(each) ? each[key] : undefined), object);
  return value === undefined ? [] : without(value, path);
};

const lists = ["matchConditions", "variables", "validations"];

function ofPolicy({ spec }: Manifest): Change[] {
  const inLists = lists.flatMap((list) =>
    ((spec[list] ?? []) as { expression: string }[]).flatMap(({ expression }, index) =>
      expressions(["spec", list, index, "expression"], expression),
    ),
  );
  const fails: string = spec.failurePolicy;
  const other = fails === "Fail" ? "Ignore" : "Fail";
  const failing: Change = {
    path: ["spec", "failurePolicy"],
    what: `failurePolicy: ${fails} -> ${other}`,
    value: other,
  };
  return [failing, ...below({ spec }, ["spec", "matchConstraints"]), ...inLists];
}

const opposite: Readonly<Record<string, string>> = { Allow: "Deny", Deny: "Allow" };

function ofBinding({ spec }: Manifest): Change[] {
  const audit: Change = { path: ["spec", "validationActions"], what: "[Deny] -> [Audit]", value: ["Audit"] };
  const found: string | undefined = spec.paramRef?.parameterNotFoundAction;
  if (found === undefined) return [audit];
  const other = opposite[found];
  const path = ["spec", "paramRef", "parameterNotFoundAction"];
  return [audit, { path, what: `parameterNotFoundAction: ${found} -> ${other}`, value: other }];
}

const RULES = "x-kubernetes-validations";

/** The rules of a schema, at every level. */
function rulesIn(value: unknown, path: Path): Change[] {
  if (!isObject(value)) return [];
  const own = ((value[RULES] ?? []) as { rule: string }[]).flatMap(({ rule }, index) =>
    expressions([...path, RULES, index, "rule"], rule),
  );
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => rulesIn(inner, [...path, key]))];
}

/** A right that lets its holder into every pod. */
function wider({ rules }: Manifest): Change {
  const more = { apiGroups: [""], resources: ["pods/exec"], verbs: ["create"] };
  return { path: ["rules"], what: "rules: with create on pods/exec", value: [...rules, more] };
}

/** Who an object is: without that it would be another. */
const identity = ["apiVersion", "kind", "metadata"];

/** Every mutant of an object. Of a Helm release those of its values: a test can't tell one interval from another. */
export function mutationsOf(object: Manifest): Change[] {
  if (object.kind === "ValidatingAdmissionPolicy") return ofPolicy(object);
  if (object.kind === "ValidatingAdmissionPolicyBinding") return ofBinding(object);
  if (object.kind === "CompositeResourceDefinition")
    return rulesIn(object.spec.versions[0].schema.openAPIV3Schema, [
      ...["spec", "versions", 0, "schema", "openAPIV3Schema"],
    ]);
  if (object.kind === "HelmRelease")
    return [...below(object, ["spec", "kubeConfig"]), ...below(object, ["spec", "values"])];
  const members = Object.keys(object).filter((key) => !identity.includes(key));
  const reduced = [...below(object, ["metadata", "labels"]), ...members.flatMap((key) => without(object[key], [key]))];
  return /^(Cluster)?Role$/.test(object.kind) && object["rules"] ? [...reduced, wider(object)] : reduced;
}
