/**
 * Where iam-simulate 0.1.173 decides otherwise than AWS documents. Each difference rewrites a statement into an equivalent one that iam-simulate
 * evaluates correctly, so that no decision is exempt from the comparison.
 */
import { type PolicyDocument, principalTag } from "../../lib/iam/policy.ts";
import { type Context, type IamRequest, operatorOf, resolve } from "./iam-evaluator.ts";

type Statement = PolicyDocument["Statement"][number];

export interface Difference {
  readonly name: string;
  /** Where AWS documents the behavior. */
  readonly source: string;
  /** A policy and a request that AWS allows, and iam-simulate doesn't. */
  readonly example: { readonly allows: Statement; readonly request: IamRequest };
  readonly rewrite: (statement: Statement, context: Context) => readonly Statement[];
}

/** The request's resource as a condition key, for patterns that iam-simulate can't match as resources. */
const resourceKey = "fleet:Resource";
export const withResource = (context: Context, resource: string): Context => ({ ...context, [resourceKey]: resource });

/** iam-simulate compares the resource's type, up to the first `/` or `:`, as plain text and looks for these inside variables too. */
const typePattern = /^(?:[^:]*:){5}[^:/]*(?:[*?]|\$\{).*[:/]/;

export const differences: readonly Difference[] = [
  {
    name: "wildcard or variable in the type of a resource",
    source: "IAM User Guide, IAM JSON policy elements: Resource, Using wildcards in resource ARNs",
    example: {
      allows: { Effect: "Allow", Action: ["sqs:*"], Resource: [`arn:aws:sqs:*:*:${principalTag("team")}_*`] },
      request: {
        action: "sqs:SendMessage",
        resource: "arn:aws:sqs:us-east-1:000000000000:blue_events",
        context: { "aws:PrincipalTag/team": "blue" },
      },
    },
    rewrite: (statement) => {
      const { Resource = [], Condition = {} } = statement;
      const patterns = Resource.filter((resource) => typePattern.test(resource));
      if (patterns.length === 0) return [statement];
      const others = Resource.filter((resource) => !patterns.includes(resource));
      const StringLike = { ...Condition["StringLike"], [resourceKey]: patterns };
      return [
        { ...statement, Resource: ["*"], Condition: { ...Condition, StringLike } },
        ...(others.length > 0 ? [{ ...statement, Resource: others }] : []),
      ];
    },
  },
  {
    name: "negated operator on a variable without a value",
    source: "IAM User Guide, IAM policy elements: Variables and tags, Policy variables with no value",
    example: {
      allows: {
        Effect: "Allow",
        Action: ["sqs:*"],
        Resource: ["*"],
        Condition: { StringNotEquals: { "aws:ResourceTag/team": principalTag("team") } },
      },
      request: {
        action: "sqs:SendMessage",
        resource: "arn:aws:sqs:us-east-1:000000000000:blue_events",
        context: { "aws:ResourceTag/team": "blue" },
      },
    },
    rewrite: (statement, context) => [
      {
        ...statement,
        Condition: Object.fromEntries(
          Object.entries(statement.Condition ?? {}).map(([operator, keys]) => [
            operator,
            operatorOf(operator).negated ? withValues(keys, context) : keys,
          ]),
        ),
      },
    ],
  },
  {
    name: "escaped wildcard under StringEquals",
    source: "IAM User Guide, IAM policy elements: Variables and tags, Special characters",
    example: {
      allows: {
        Effect: "Allow",
        Action: ["sqs:*"],
        Resource: ["*"],
        Condition: { StringEquals: { "aws:ResourceTag/team": `a\${*}` } },
      },
      request: {
        action: "sqs:SendMessage",
        resource: "arn:aws:sqs:us-east-1:000000000000:blue_events",
        context: { "aws:ResourceTag/team": "a*" },
      },
    },
    rewrite: (statement) => [
      {
        ...statement,
        Condition: Object.fromEntries(
          Object.entries(statement.Condition ?? {}).map(([operator, keys]) => [
            operator,
            operatorOf(operator).positive === "StringEquals" ? unescaped(keys) : keys,
          ]),
        ),
      },
    ],
  },
];

type Keys = Readonly<Record<string, string | readonly string[]>>;

const unescaped = (keys: Keys): Keys =>
  Object.fromEntries(
    Object.entries(keys).map(([key, expected]) => [
      key,
      [expected].flat().map((value) => value.replaceAll(/\$\{([*?$])\}/g, (_, character: string) => character)),
    ]),
  );

/** The keys whose values can be equal to something: not equal to null is true. */
function withValues(keys: Keys, context: Context) {
  const values = Object.entries(keys).map(([key, expected]): [string, readonly string[]] => [
    key,
    [expected].flat().filter((value) => resolve(value, context) !== undefined),
  ]);
  return Object.fromEntries(values.filter(([, expected]) => expected.length > 0));
}

/** The document as iam-simulate must read it to evaluate it as AWS documents. */
export const rewrite = (document: PolicyDocument, context: Context): PolicyDocument => ({
  ...document,
  Statement: differences.reduce<readonly Statement[]>(
    (statements, difference) => statements.flatMap((statement) => difference.rewrite(statement, context)),
    document.Statement,
  ),
});
