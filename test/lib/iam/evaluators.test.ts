import { describe, expect, it } from "vitest";
import { type Condition, policy, type Statement } from "../../../lib/iam/policy.ts";
import { allowed, trusts } from "../../support/iam.ts";
import { differences } from "../../support/iam-differences.ts";
import { type Context, evaluate, type IamRequest, webIdentity } from "../../support/iam-evaluator.ts";
import { caller, confirm, confirmTrust, simulate } from "../../support/iam-second.ts";

const queue = "arn:aws:sqs:us-east-1:000000000000:blue";
const request = (context: Context): IamRequest => ({ action: "sqs:SendMessage", resource: queue, context });
const when = (Condition: Condition): Statement => ({ Effect: "Allow", Action: ["sqs:*"], Resource: ["*"], Condition });

// IAM User Guide: "IAM policy elements: Variables and tags", "IAM JSON policy elements: Condition operators".
const conditions: readonly (readonly [string, boolean, Condition, Context])[] = [
  [
    "a negated operator on a variable without a value",
    true,
    { StringNotEquals: { "aws:ResourceTag/a": `\${aws:PrincipalTag/a}` } },
    { "aws:ResourceTag/a": "x" },
  ],
  [
    "an operator on a variable without a value",
    false,
    { StringEquals: { "aws:ResourceTag/a": `\${aws:PrincipalTag/a}` } },
    { "aws:ResourceTag/a": "x" },
  ],
  [
    "an operator on a variable with an empty value",
    false,
    { StringLike: { "aws:ResourceTag/a": `\${aws:PrincipalTag/a}*` } },
    { "aws:ResourceTag/a": "x", "aws:PrincipalTag/a": "" },
  ],
  [
    "the default of a variable",
    true,
    { StringEquals: { "aws:ResourceTag/a": `\${aws:PrincipalTag/a, 'x'}` } },
    { "aws:ResourceTag/a": "x" },
  ],
  [
    "a wildcard in the value of a variable",
    false,
    { StringLike: { "aws:ResourceTag/a": `\${aws:RequestTag/a}` } },
    { "aws:ResourceTag/a": "x", "aws:RequestTag/a": "*" },
  ],
  ["an escaped wildcard", false, { StringLike: { "aws:ResourceTag/a": `x\${*}` } }, { "aws:ResourceTag/a": "xy" }],
  [
    "an escaped wildcard's own character",
    true,
    { StringLike: { "aws:ResourceTag/a": `x\${*}` } },
    { "aws:ResourceTag/a": "x*" },
  ],
  ["a key in another case", true, { StringEquals: { "AWS:resourcetag/A": "x" } }, { "aws:ResourceTag/a": "x" }],
  ["a Boolean in another case", true, { Bool: { "aws:SecureTransport": "True" } }, { "aws:SecureTransport": "true" }],
  [
    "an ARN with a wildcard that would span two parts",
    false,
    { ArnLike: { "aws:PrincipalArn": "arn:aws:iam:*:role/a" } },
    { "aws:PrincipalArn": "arn:aws:iam::000000000000:role/a" },
  ],
  [
    "all of several values",
    false,
    { "ForAllValues:StringEquals": { "aws:TagKeys": ["a", "b"] } },
    { "aws:TagKeys": ["a", "c"] },
  ],
  ["any of several values", true, { "ForAnyValue:StringLike": { "aws:TagKeys": "c*" } }, { "aws:TagKeys": ["a", "c"] }],
];

describe("the tests' evaluators", () => {
  it.each(conditions)("agree on %s: %s", (_, expected, condition, context) => {
    expect(allowed(policy(when(condition)), request(context))).toBe(expected);
  });

  it("rejects several values without a set operator, which IAM Access Analyzer reports", () => {
    const severalValues = policy(when({ StringEquals: { "aws:TagKeys": "a" } }));
    expect(() => allowed(severalValues, request({ "aws:TagKeys": ["a", "b"] }))).toThrow(
      "StringEquals on aws:TagKeys: several values need ForAllValues or ForAnyValue",
    );
  });

  it.each([true, false])("fails if iam-simulate doesn't decide %s as well", (decision) => {
    const Effect = decision ? "Deny" : "Allow";
    const other = policy({ Effect, Action: ["sqs:*"], Resource: ["*"] });
    expect(() => confirm(decision, [other], request({}))).toThrow(/iam-simulate (allows|denies): .*sqs:SendMessage/);
  });

  it("fails if iam-simulate doesn't make a decision on a web identity as well", () => {
    const provider = "arn:aws:iam::000000000000:oidc-provider/example.com";
    const trust = policy({ Effect: "Allow", Principal: { Federated: provider }, Action: [webIdentity] });
    expect(trusts(trust, provider, {})).toBe(true);
    expect(trusts(trust, `${provider}/other`, {})).toBe(false);
    expect(() => confirmTrust(false, trust, provider, {})).toThrow(
      "the tests' evaluator denies what iam-simulate allows",
    );
  });

  it("reads a Deny of a trust policy", () => {
    const provider = "arn:aws:iam::000000000000:oidc-provider/example.com";
    const [allow, deny] = (["Allow", "Deny"] as const).map(
      (Effect): Statement => ({ Effect, Principal: { Federated: provider }, Action: ["sts:*"] }),
    ) as [Statement, Statement];
    expect(trusts(policy(allow, deny), provider, {})).toBe(false);
  });

  it.each(differences)("decides without iam-simulate's difference: $name", ({ example }) => {
    const document = policy(example.allows);
    expect(evaluate([document], example.request)).toBe(true);
    expect(confirm(true, [document], example.request)).toBe(true);
    // As soon as iam-simulate decides this correctly, the difference can be removed.
    expect(simulate(caller, example.request, [document])).toBe(false);
  });
});
