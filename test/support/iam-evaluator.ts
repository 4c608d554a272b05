import type { PolicyDocument } from "../../lib/iam/policy.ts";

type Statement = PolicyDocument["Statement"][number];

/** Values of condition keys: a list for a key with several values, such as aws:TagKeys. */
export type Context = Readonly<Record<string, string | readonly string[]>>;

/** A request as IAM sees it. */
export interface IamRequest {
  readonly action: string;
  readonly resource: string;
  readonly context?: Context;
}

const lowered = new WeakMap<Context, Context>();

/** The value of a key. IAM ignores the case of keys (IAM User Guide, "IAM JSON policy elements: Condition"). */
export function valueOfKey(key: string, context: Context): string | readonly string[] | undefined {
  const exact = context[key];
  if (exact !== undefined) return exact;
  const known =
    lowered.get(context) ??
    Object.fromEntries(Object.entries(context).map(([name, value]) => [name.toLowerCase(), value]));
  lowered.set(context, known);
  return known[key.toLowerCase()];
}

/** IAM User Guide, "IAM policy elements: Variables and tags": special characters, default values, variables with no value. */
function variable(text: string, context: Context): string | undefined {
  if (["*", "?", "$"].includes(text)) return text;
  const [key = text, fallback] = text.split(", ");
  const value = valueOfKey(key, context);
  return typeof value === "string" && value !== "" ? value : fallback?.replaceAll("'", "");
}

/** Replaces variables. Returns undefined if a variable has no value: nothing is equal to the text or like it then. */
export function resolve(
  text: string,
  context: Context,
  form: (part: string, isValue: boolean) => string = (part) => part,
): string | undefined {
  const parts = text.split(/\$\{([^}]+)\}/).map((part, at) => {
    const value = at % 2 === 0 ? part : variable(part, context);
    return value === undefined ? undefined : form(value, at % 2 === 1);
  });
  return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
}

const quoted = (text: string): string => text.replaceAll(/[.+^${}()|[\]\\*?]/g, String.raw`\$&`);

/** A part of a regular expression. A wildcard in a variable's value is an ordinary character. */
const source = (part: string, isValue: boolean): string =>
  isValue ? quoted(part) : quoted(part).replaceAll(String.raw`\*`, ".*").replaceAll(String.raw`\?`, ".");

const compiled = new Map<string, RegExp>();

/** Whether IAM's pattern, in which `*` and `?` are wildcards, matches all of `value`. */
export function matches(pattern: string, value: string, context: Context = {}): boolean {
  const plain = !pattern.includes("${");
  let known = plain ? compiled.get(pattern) : undefined;
  if (known === undefined) {
    const resolved = resolve(pattern, context, source);
    if (resolved === undefined) return false;
    known = new RegExp(`^${resolved}$`, "s");
    if (plain) compiled.set(pattern, known);
  }
  return known.test(value);
}

/** ARN operators compare the six parts of an ARN one by one (IAM User Guide, "Amazon Resource Name (ARN) condition operators"). */
function arnMatches(actual: string, pattern: string, context: Context): boolean {
  const parts = (text: string) => [...text.split(":").slice(0, 5), text.split(":").slice(5).join(":")];
  const got = parts(actual);
  return parts(pattern).every((part, at) => matches(part, got[at] ?? "", context));
}

const comparisons: Readonly<Record<string, (actual: string, expected: string, context: Context) => boolean>> = {
  StringEquals: (actual, expected, context) => resolve(expected, context) === actual,
  StringLike: (actual, pattern, context) => matches(pattern, actual, context),
  Bool: (actual, expected) => actual.toLowerCase() === expected.toLowerCase(),
  ArnEquals: arnMatches,
  ArnLike: arnMatches,
};

interface Operator {
  readonly set: string | undefined;
  readonly positive: string;
  readonly negated: boolean;
  readonly ifExists: boolean;
}

const operators = new Map<string, Operator>();

export function operatorOf(name: string): Operator {
  const known = operators.get(name);
  if (known) return known;
  const [, set, base = "", ifExists] = /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(name) ?? [];
  const positive = base.replace("Not", "");
  const operator = { set, positive, negated: positive !== base, ifExists: ifExists !== undefined };
  operators.set(name, operator);
  return operator;
}

/** IAM User Guide, "IAM JSON policy elements: Condition operators" and "Set operators for multivalued context keys". */
function conditionHolds(operator: string, key: string, expected: readonly string[], context: Context): boolean {
  const actual = valueOfKey(key, context);
  if (operator === "Null") return expected.includes(String(actual === undefined));
  const { set, positive, negated, ifExists } = operatorOf(operator);
  const compare = comparisons[positive];
  if (!compare) throw new Error(`the test evaluator lacks ${operator}`);
  if (actual === undefined) return ifExists || set === "ForAllValues" || (set === undefined && negated);
  const holds = (value: string) => expected.some((each) => compare(value, each, context)) !== negated;
  if (set !== undefined) {
    const values = [actual].flat();
    return set === "ForAllValues" ? values.every(holds) : values.some(holds);
  }
  if (typeof actual !== "string")
    throw new Error(`${operator} on ${key}: several values need ForAllValues or ForAnyValue`);
  return holds(actual);
}

const conditionsHold = ({ Condition = {} }: Statement, context: Context): boolean =>
  Object.entries(Condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, values]) => conditionHolds(operator, key, [values].flat(), context)),
  );

/** The call by which a web identity assumes a role. */
export const webIdentity = "sts:AssumeRoleWithWebIdentity";

const byAction = new WeakMap<PolicyDocument, Map<string, readonly Statement[]>>();

/** The statements of a document that name the action. IAM ignores the case of actions. */
function statementsFor(document: PolicyDocument, action: string): readonly Statement[] {
  const known = byAction.get(document) ?? new Map<string, readonly Statement[]>();
  byAction.set(document, known);
  const found =
    known.get(action) ??
    document.Statement.filter(({ Action, NotAction = [] }) => {
      const named = (Action ?? NotAction).some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase()));
      return Action === undefined ? !named : named;
    });
  known.set(action, found);
  return found;
}

/** Whether a document allows the action on anything, under any condition. */
export const mentions = (document: PolicyDocument, action: string): boolean =>
  statementsFor(document, action).some(({ Effect }) => Effect === "Allow");

/** The condition keys on which documents depend for an action. */
export const keysOf = (documents: readonly PolicyDocument[], action: string): readonly string[] => [
  ...new Set(
    documents
      .flatMap((document) => statementsFor(document, action))
      .flatMap((statement) => [
        ...Object.values(statement.Condition ?? {}).flatMap((keys) => Object.keys(keys)),
        ...[...JSON.stringify(statement).matchAll(/\$\{([^},]+)/g)].map(([, key = ""]) => key),
      ]),
  ),
];

function applies(statement: Statement, { resource, context = {} }: IamRequest): boolean {
  const patterns = statement.Resource ?? ["*"];
  return patterns.some((pattern) => matches(pattern, resource, context)) && conditionsHold(statement, context);
}

/** Whether `policies` together allow the request: an explicit Deny wins, no Allow is a refusal (IAM's evaluation logic in one account). */
export function evaluate(policies: readonly PolicyDocument[], request: IamRequest): boolean {
  const statements = policies.flatMap((document) => statementsFor(document, request.action));
  const matching = statements.filter((statement) => applies(statement, request));
  return matching.some(({ Effect }) => Effect === "Allow") && !matching.some(({ Effect }) => Effect === "Deny");
}

/** Whether a trust policy allows a web identity of `provider` with these claims to assume its role. */
export function evaluateTrust(trust: PolicyDocument, provider: string, claims: Context): boolean {
  const Statement = trust.Statement.filter(({ Principal }) => [Principal?.Federated].flat().includes(provider));
  return evaluate([{ ...trust, Statement }], { action: webIdentity, resource: "*", context: claims });
}
