import { isSchema, type Schema, withDefaults } from "../../../lib/openapi.ts";
import { isObject, type Path } from "../../render/files.ts";
import { type Expression, expression, type Outcome, type Variables, withoutLiterals } from "./expressions.ts";
import { asWhole, celValue, unescaped } from "./values.ts";

/** `x-kubernetes-validations` of a definition, evaluated on an object as the API server does. */

interface Validation {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A rule that an object breaks. */
export interface Broken {
  /** Path of the innermost value that contains everything that the rule reads. */
  readonly path: Path;
  readonly rule: string;
  readonly message: string;
  /** Whether the rule compares with the former value. */
  readonly isTransition: boolean;
}

export interface Validated {
  readonly broken: readonly Broken[];
  /** Rules that could not be evaluated, with the reason. */
  readonly unknown: readonly { readonly rule: string; readonly why: string }[];
}

/** A value with the schema that describes it. */
interface Place {
  readonly schema: Schema;
  readonly value: unknown;
  /** The former value; undefined if there was none that can be compared. */
  readonly old: unknown;
  readonly path: Path;
}

const rulesOf = (schema: Schema): readonly Validation[] => (schema["x-kubernetes-validations"] ?? []) as Validation[];

const withRules = new WeakMap<Schema, boolean>();

/** Whether there is a rule anywhere in a schema. */
export function hasRules(schema: Schema): boolean {
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  const inner = [schema.items, schema["additionalProperties"], ...Object.values(schema.properties ?? {})];
  const found = rulesOf(schema).length > 0 || inner.filter(isSchema).some(hasRules);
  withRules.set(schema, found);
  return found;
}

/** The former version of a list's item: only items of a map list have an identity. */
function oldItem({ schema, old }: Place, item: unknown): unknown {
  const keys = schema["x-kubernetes-list-map-keys"] as readonly string[] | undefined;
  if (schema["x-kubernetes-list-type"] !== "map" || !keys || !Array.isArray(old) || !isObject(item)) return undefined;
  return old.find((other) => isObject(other) && keys.every((key) => other[key] === item[key]));
}

function* inside(place: Place): Generator<Place> {
  const { schema, value, old, path } = place;
  yield place;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* inside({ schema: schema.items ?? {}, value: item, old: oldItem(place, item), path: [...path, index] });
    return;
  }
  if (!isObject(value)) return;
  const before = isObject(old) && schema["x-kubernetes-map-type"] !== "atomic" ? old : {};
  for (const [key, member] of Object.entries(value)) {
    const of = schema.properties?.[key] ?? schema["additionalProperties"];
    if (isSchema(of)) yield* inside({ schema: of, value: member, old: before[key], path: [...path, key] });
  }
}

/** Path below `self` that contains everything that a rule reads. */
function subject(rule: string): string[] {
  const read = [...withoutLiterals(rule).matchAll(/(?<!\.\s*)\bself\b((?:\.\w+)*)(\()?/g)].map(
    ([, members = "", call]) =>
      members
        .split(".")
        .slice(1, call ? -1 : undefined)
        .map(unescaped),
  );
  const [first = [], ...others] = read;
  const end = first.findIndex((name, index) => others.some((other) => other[index] !== name));
  return end < 0 ? first : first.slice(0, end);
}

/** Members of a `fieldPath`, such as `.a['b.c']`. */
const members = (fieldPath: string): string[] =>
  [...fieldPath.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)].map(([, plain, quoted]) =>
    (plain ?? quoted ?? "").replaceAll(/\\(.)/g, "$1"),
  );

/** The message as the API server chooses it: that of messageExpression, if it is one line of text. */
function messageOf(validation: Validation, variables: Variables): string {
  const { rule, message, messageExpression, optionalOldSelf } = validation;
  const computed: Outcome = messageExpression
    ? expression(messageExpression, optionalOldSelf).evaluate(variables)
    : { value: undefined };
  const text = "value" in computed && typeof computed.value === "string" ? computed.value.trim() : "";
  return (text.includes("\n") ? "" : text) || message?.trim() || `failed rule: ${rule}`;
}

/** Whether the API server evaluates a rule here. */
const applies = ({ readsOld }: Expression, { optionalOldSelf }: Validation, { old }: Place): boolean =>
  !readsOld || optionalOldSelf === true || (old !== undefined && old !== null);

/**
 * The rules that an object breaks when it is made, or when `old` is changed to it. Its defaults are filled in first.
 * @param definition the schema of its definition
 */
export function validate(definition: Schema, object: unknown, old?: unknown): Validated {
  const schema = asWhole(definition);
  const broken: Broken[] = [];
  const unknown = new Map<string, string>();
  const whole: Place = {
    schema,
    path: [],
    value: withDefaults(definition, object),
    old: old === undefined ? undefined : withDefaults(definition, old),
  };
  for (const place of inside(whole)) {
    const rules = rulesOf(place.schema);
    // A rule about null is at the member above.
    if (rules.length === 0 || place.value === null) continue;
    const variables: Variables = {
      self: celValue(place.schema, place.value),
      ...(place.old === undefined || place.old === null ? {} : { oldSelf: celValue(place.schema, place.old) }),
    };
    for (const validation of rules) {
      const { rule, fieldPath, optionalOldSelf } = validation;
      const compiled = expression(rule, optionalOldSelf);
      if (!applies(compiled, validation, place)) continue;
      const outcome = compiled.evaluate(variables);
      if ("unknown" in outcome) unknown.set(rule, outcome.unknown);
      else if ("failed" in outcome || outcome.value !== true)
        broken.push({
          rule,
          isTransition: compiled.readsOld,
          path: [...place.path, ...(fieldPath === undefined ? subject(rule) : members(fieldPath))],
          message:
            "failed" in outcome
              ? `the rule ${rule} can't be evaluated: ${outcome.failed}`
              : messageOf(validation, variables),
        });
    }
  }
  return { broken, unknown: [...unknown].map(([rule, why]) => ({ rule, why })) };
}
