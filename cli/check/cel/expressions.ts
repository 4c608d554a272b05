import { Environment, EvaluationError, Optional, type ParseResult } from "@marcbachmann/cel-js";
import { withNetworks } from "./networks.ts";

/** CEL expressions of definitions, compiled as the API server does. */

/** The outcome of an expression. */
export type Outcome =
  | { readonly value: unknown }
  /** The API server can't evaluate it either, for this value. */
  | { readonly failed: string }
  /** This library can't say what the API server would do. */
  | { readonly unknown: string };

export interface Variables {
  readonly self: unknown;
  /** Undefined when the object is created. */
  readonly oldSelf?: unknown;
}

export interface Expression {
  /** Whether it compares with the former value (`oldSelf`). */
  readonly readsOld: boolean;
  evaluate(variables: Variables): Outcome;
}

/** Errors that CEL itself defines: they are about the value and not about a gap of this library. */
const ofValues: ReadonlySet<string> = new Set([
  "no_such_key",
  "index_out_of_bounds",
  "index_out_of_range",
  "division_by_zero",
  "modulo_by_zero",
  "numeric_overflow",
  "bool_conversion_error",
  "int_conversion_error",
  "uint_conversion_error",
  "double_conversion_error",
  "invalid_timestamp",
  "invalid_duration",
  "invalid_cidr",
  "optional_value_missing",
]);

/** Regular expressions that mean something else in JavaScript than in RE2; one that JavaScript refuses is reported as an error. */
const onlyRe2 = /\[:\^?[a-z]+:\]|\\[AzCQEpP]|\\x\{|(?<!\\)\[\^?\]/;

/** Texts and comments of an expression. */
const literals = /\/\/.*|\b[bB]?[rR](?:"[^"]*"|'[^']*')|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;

/** An expression without what is in its texts and comments. */
export const withoutLiterals = (text: string): string => text.replaceAll(literals, "''");

const environment = () =>
  withNetworks(new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })).registerVariable(
    "self",
    "dyn",
  );
const creation = environment();
const change = environment().registerVariable("oldSelf", "dyn");
const optional = environment().registerVariable("oldSelf", "optional<dyn>");

/**
 * A duration as a value of CEL, whose class the library does not export; undefined for text that it can't parse: the API server also
 * takes units such as `1 day`.
 */
export function duration(text: string): unknown {
  const read = outcome(creation.parse("duration(self)"), { self: text });
  return "value" in read ? read.value : undefined;
}

const summaryOf = (error: unknown): string =>
  (error as Partial<EvaluationError>).summary ?? (error as Error).message.split("\n")[0] ?? "";

function outcome(parsed: ParseResult, variables: Readonly<Record<string, unknown>>): Outcome {
  try {
    return { value: parsed(variables) };
  } catch (error) {
    const isOfValue = error instanceof EvaluationError && ofValues.has(error.code);
    return isOfValue ? { failed: summaryOf(error) } : { unknown: summaryOf(error) };
  }
}

/** The expression with its types checked. @throws Error */
function parsedIn(environment: Environment, text: string): ParseResult {
  const parsed = environment.parse(text);
  const { error } = parsed.check();
  if (error) throw error;
  const texts = /\bmatches\(/.test(text) ? (text.match(literals) ?? []) : [];
  const [pattern] = texts.flatMap((literal) => onlyRe2.exec(literal) ?? []);
  if (pattern !== undefined)
    throw new Error(`the regular expression ${pattern} means something else in JavaScript than in RE2`);
  return parsed;
}

/** As the API server decides it: by the use of the variable. */
const readsOld = (text: string): boolean => /(?<!\.\s*)\boldSelf\b/.test(withoutLiterals(text));

function compile(text: string, isOptional: boolean): Expression {
  const isChange = readsOld(text);
  try {
    const parsed = parsedIn(isChange ? (isOptional ? optional : change) : creation, text);
    return {
      readsOld: isChange,
      evaluate: ({ self, oldSelf }) => {
        if (!isChange) return outcome(parsed, { self });
        const old = oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
        return outcome(parsed, { self, oldSelf: isOptional ? old : oldSelf });
      },
    };
  } catch (error) {
    const unknown = summaryOf(error);
    return { readsOld: isChange, evaluate: () => ({ unknown }) };
  }
}

const known = new Map<string, Expression>();

/** @param isOptional whether `oldSelf` is an optional value (`optionalOldSelf`) */
export function expression(text: string, isOptional = false): Expression {
  const key = `${isOptional} ${text}`;
  const found = known.get(key) ?? compile(text, isOptional);
  known.set(key, found);
  return found;
}
