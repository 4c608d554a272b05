import { describe, expect, test } from "vitest";
import { admits, admitsOtherOwners, restrictsRefs, trustedSubjects } from "../../../lib/iam/github-trust.ts";
import type { Condition } from "../../../lib/iam/policy.ts";

const issuer = "token.actions.githubusercontent.com";
const subject = "repo:acme@123456/fleet@456789:environment:dev";

function statement(Condition: Condition, provider = issuer, Effect = "Allow") {
  const Federated = `arn:aws:iam::111111111111:oidc-provider/${provider}`;
  return { Effect, Principal: { Federated }, Action: "sts:AssumeRoleWithWebIdentity", Condition } as const;
}
const equals = (value: string | string[], key = `${issuer}:sub`) => ({ StringEquals: { [key]: value } });
const admitted = (...Statement: ReturnType<typeof statement>[]) =>
  admits(trustedSubjects({ Statement }, issuer), subject);

describe("a trust policy", () => {
  test.for([
    ["the exact subject", equals(subject)],
    ["one of several subjects", equals(["repo:acme/fleet:environment:dev", subject])],
    ["a pattern", { StringLike: { [`${issuer}:sub`]: "repo:acme@123456/*:environment:d?v" } }],
    ["another case with IgnoreCase", { StringEqualsIgnoreCase: { [`${issuer}:sub`]: subject.toUpperCase() } }],
    ["a condition key in another case", equals(subject, `${issuer}:SUB`)],
    ["further conditions", { ...equals(subject), StringLike: { [`${issuer}:ref`]: "refs/heads/main" } }],
    ["an operator for sets of values", { "ForAnyValue:StringLike": { [`${issuer}:sub`]: "repo:acme@123456/*" } }],
  ] as const)("admits a subject by %s", ([, condition]) => expect(admitted(statement(condition))).toBe(true));

  test.for([
    ["the subject without IDs", equals("repo:acme/fleet:environment:dev")],
    ["a repository of another name", equals("repo:acme@123456/other@456789:environment:dev")],
    ["another environment", equals("repo:acme@123456/fleet@456789:environment:prod")],
    ["a pattern under StringEquals", equals("repo:acme@123456/*")],
    ["a pattern whose dots are no wildcards", { StringLike: { [`${issuer}:sub`]: "repo:acme@123456.fleet*" } }],
    ["two conditions of which one differs", { ...equals(subject), StringLike: { [`${issuer}:sub`]: "repo:acme/*" } }],
    ["no subject", { StringEquals: { [`${issuer}:aud`]: "sts.amazonaws.com" } }],
  ] as const)("doesn't admit a subject by %s", ([, condition]) => expect(admitted(statement(condition))).toBe(false));

  test.for([
    ["no condition about subjects", { StringEquals: { [`${issuer}:aud`]: "sts.amazonaws.com" } }, true],
    ["a pattern for all owners", { StringLike: { [`${issuer}:sub`]: "repo:*:environment:dev" } }, true],
    ["a pattern of an owner", { StringLike: { [`${issuer}:sub`]: "repo:acme@123456/*" } }, false],
    ["the exact subject", equals(subject), false],
  ] as const)("with %s admits other owners: %s", ([, condition, others]) => {
    const trusted = trustedSubjects({ Statement: statement(condition) }, issuer);
    expect(admitsOtherOwners(trusted, subject)).toBe(others);
  });

  test("admits a subject if one statement does", () => {
    expect(admitted(statement(equals("repo:acme/fleet:environment:dev")), statement(equals(subject)))).toBe(true);
  });

  test("admits nothing by a statement about another issuer, or one that denies", () => {
    expect(admitted(statement(equals(subject), "gitlab.example"))).toBe(false);
    expect(admitted(statement(equals(subject), issuer, "Deny"))).toBe(false);
  });

  test("is read with a single statement, without a principal, and with the issuer of an enterprise", () => {
    const enterprise = statement(equals(subject, `${issuer}/acme:sub`), `${issuer}/acme`);
    expect(admits(trustedSubjects({ Statement: enterprise }, issuer), subject)).toBe(true);
    expect(trustedSubjects({ Statement: { Effect: "Allow", Principal: "*" } }, issuer)).toEqual([]);
    expect(trustedSubjects({}, issuer)).toEqual([]);
  });
});

describe("a pushed branch", () => {
  const ref = (operator: string, value: string | string[]) => ({
    ...equals(subject),
    [operator]: { [`${issuer}:ref`]: value },
  });
  const restricts = (...Statement: ReturnType<typeof statement>[]) => restrictsRefs({ Statement }, issuer);
  const main = statement({ StringEquals: { [`${issuer}:sub`]: subject, [`${issuer}:ref`]: "refs/heads/main" } });

  test.for([
    ["the main branch", "StringEquals", "refs/heads/main"],
    ["pull requests", "StringLike", "refs/pull/*/merge"],
    ["tags", "StringLike", ["refs/tags/v*", "refs/heads/main"]],
  ] as const)("is denied by a condition about %s", ([, operator, value]) => {
    expect(restricts(statement(ref(operator, value as string)))).toBe(true);
  });

  test.for([
    ["every ref", "StringLike", "*"],
    ["every branch", "StringLike", ["refs/heads/main", "refs/heads/*"]],
    ["a ref if the token has one", "StringEqualsIfExists", "refs/heads/main"],
    ["a set of refs that may be empty", "ForAllValues:StringEquals", "refs/heads/main"],
    ["other refs", "StringNotEquals", "refs/heads/x"],
  ] as const)("is admitted by a condition about %s", ([, operator, value]) => {
    expect(restricts(statement(ref(operator, value as string)))).toBe(false);
  });

  test("is admitted by one statement without a condition", () => {
    expect(restricts(main)).toBe(true);
    expect(restricts(main, statement(equals(subject)))).toBe(false);
    expect(restricts(main, statement(equals(subject), "gitlab.com"))).toBe(true);
  });
});
