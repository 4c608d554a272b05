import type { PolicyDocument, Statement } from "../../lib/iam/policy.ts";

/** A request as IAM sees it. */
export interface IamRequest {
  readonly action: string;
  readonly resource: string;
  readonly context?: Readonly<Record<string, string>>;
}

const matches = (pattern: string, value: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("*", ".*")
      .replaceAll("?", ".")}$`,
  ).test(value);

const operators: Record<string, (actual: string | undefined, allowed: readonly string[]) => boolean> = {
  StringEquals: (actual, allowed) => actual !== undefined && allowed.includes(actual),
  StringNotEquals: (actual, refused) => actual === undefined || !refused.includes(actual),
  StringLike: (actual, allowed) => actual !== undefined && allowed.some((pattern) => matches(pattern, actual)),
  StringEqualsIfExists: (actual, allowed) => actual === undefined || allowed.includes(actual),
  Null: (actual, [absent]) => (actual === undefined) === (absent === "true"),
  ArnEquals: (actual, allowed) => actual !== undefined && allowed.some((pattern) => matches(pattern, actual)),
};

function applies(statement: Statement, { action, resource, context = {} }: IamRequest): boolean {
  const conditions = Object.entries(statement.Condition ?? {}).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, allowed]) => {
      const evaluate = operators[operator];
      if (!evaluate) throw new Error(`the test evaluator lacks ${operator}`);
      return evaluate(context[key], [allowed].flat());
    }),
  );
  return (
    statement.Action.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    (statement.Resource ?? ["*"]).some((pattern) => matches(pattern, resource)) &&
    conditions.every(Boolean)
  );
}

/** Whether `policies` together allow the request: an explicit Deny wins, no Allow is a refusal (IAM's evaluation logic in one account). */
export function allowed(policies: PolicyDocument | readonly PolicyDocument[], request: IamRequest): boolean {
  const statements = [policies].flat().flatMap(({ Statement }) => Statement);
  const matching = statements.filter((statement) => applies(statement, request));
  return matching.some(({ Effect }) => Effect === "Allow") && !matching.some(({ Effect }) => Effect === "Deny");
}

/** Characters of a policy as IAM counts them: white space aside. */
export const policyLength = (policy: PolicyDocument): number => JSON.stringify(policy).replaceAll(/\s/g, "").length;
