import { type PolicyDocument, policyText } from "../../lib/iam/policy.ts";

type Statement = PolicyDocument["Statement"][number];

/** A request as IAM sees it. */
export interface IamRequest {
  readonly action: string;
  readonly resource: string;
  readonly context?: Readonly<Record<string, string>>;
}

const patterns = new Map<string, RegExp>();

/** Whether IAM's pattern, in which `*` and `?` are wildcards, matches all of `value`. */
export function matches(pattern: string, value: string): boolean {
  let known = patterns.get(pattern);
  if (known === undefined) {
    const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
    known = new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
    patterns.set(pattern, known);
  }
  return known.test(value);
}

/** ARN operators compare the six parts of an ARN one by one (IAM User Guide, "Amazon Resource Name (ARN) condition operators"). */
function arnMatches(pattern: string, arn: string): boolean {
  const parts = (text: string) => [...text.split(":").slice(0, 5), text.split(":").slice(5).join(":")];
  const [wanted, got] = [parts(pattern), parts(arn)];
  return wanted.every((part, at) => matches(part, got[at] ?? ""));
}

const operators: Record<string, (actual: string | undefined, allowed: readonly string[]) => boolean> = {
  StringEquals: (actual, allowed) => actual !== undefined && allowed.includes(actual),
  "ForAnyValue:StringEquals": (actual, allowed) => actual !== undefined && allowed.includes(actual),
  /** Of a key with several values, such as aws:TagKeys: they stand in the request with commas between them. */
  "ForAllValues:StringEquals": (actual, allowed) =>
    actual === undefined || actual.split(",").every((value) => allowed.includes(value)),
  StringNotEquals: (actual, refused) => actual === undefined || !refused.includes(actual),
  StringLike: (actual, allowed) => actual !== undefined && allowed.some((pattern) => matches(pattern, actual)),
  StringNotLike: (actual, refused) => actual === undefined || !refused.some((pattern) => matches(pattern, actual)),
  StringEqualsIfExists: (actual, allowed) => actual === undefined || allowed.includes(actual),
  Bool: (actual, [wanted]) => actual === wanted,
  BoolIfExists: (actual, [wanted]) => actual === undefined || actual === wanted,
  Null: (actual, [absent]) => (actual === undefined) === (absent === "true"),
  ArnEquals: (actual, allowed) => actual !== undefined && allowed.some((pattern) => arnMatches(pattern, actual)),
  ArnEqualsIfExists: (actual, allowed) =>
    actual === undefined || allowed.some((pattern) => arnMatches(pattern, actual)),
  ArnLike: (actual, allowed) => actual !== undefined && allowed.some((pattern) => arnMatches(pattern, actual)),
  ArnNotLike: (actual, refused) => actual === undefined || !refused.some((pattern) => arnMatches(pattern, actual)),
};

type Context = Readonly<Record<string, string>>;

/** The value with its policy variables replaced; undefined where one has no value: the statement then counts for nothing. */
function resolve(value: string, context: Context): string | undefined {
  if (!value.includes("${")) return value;
  let missing = false;
  const resolved = value.replaceAll(/\$\{([^}]+)\}/g, (_, key: string) => {
    missing ||= context[key] === undefined;
    return context[key] ?? "";
  });
  return missing ? undefined : resolved;
}

function resolveAll(values: readonly string[], context: Context): readonly string[] | undefined {
  const resolved = values.map((value) => resolve(value, context));
  return resolved.every((value) => value !== undefined) ? resolved : undefined;
}

function conditionsHold({ Condition = {} }: Statement, context: Context): boolean {
  return Object.entries(Condition).every(([operator, keys]) => {
    const evaluate = operators[operator];
    if (!evaluate) throw new Error(`the test evaluator lacks ${operator}`);
    return Object.entries(keys).every(([key, values]) => {
      const resolved = resolveAll([values].flat(), context);
      return resolved !== undefined && evaluate(context[key], resolved);
    });
  });
}

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

function applies(statement: Statement, { resource, context = {} }: IamRequest): boolean {
  const resources = resolveAll(statement.Resource ?? ["*"], context);
  return resources?.some((pattern) => matches(pattern, resource)) === true && conditionsHold(statement, context);
}

/** Whether `policies` together allow the request: an explicit Deny wins, no Allow is a refusal (IAM's evaluation logic in one account). */
export function allowed(policies: PolicyDocument | readonly PolicyDocument[], request: IamRequest): boolean {
  const statements = [policies].flat().flatMap((document) => statementsFor(document, request.action));
  const matching = statements.filter((statement) => applies(statement, request));
  return matching.some(({ Effect }) => Effect === "Allow") && !matching.some(({ Effect }) => Effect === "Deny");
}

/** Whether a trust policy lets a web identity of `provider` with these claims assume its role. */
export function trusts(trust: PolicyDocument, provider: string, claims: Context): boolean {
  return trust.Statement.some(
    (statement) =>
      statement.Effect === "Allow" &&
      statement.Principal?.["Federated"] === provider &&
      statement.Action?.includes("sts:AssumeRoleWithWebIdentity") &&
      conditionsHold(statement, claims),
  );
}

/** A policy as a resource has it, with lists also where IAM takes a single value for one. */
export function readPolicy(text: unknown): PolicyDocument {
  const lists = ["Action", "NotAction", "Resource"];
  return JSON.parse(String(text), (key, value: unknown) =>
    lists.includes(key) && typeof value === "string" ? [value] : value,
  ) as PolicyDocument;
}

/** Characters of a policy as IAM counts them: white space aside. */
export const policyLength = (policy: PolicyDocument): number => policyText(policy).replaceAll(/\s/g, "").length;
