import { describe, expect, it } from "vitest";
import { type Condition, policy } from "../../../lib/iam/policy.ts";
import { policyLength } from "../../support/iam.ts";
import { allPolicies, longestFleet, partitions } from "../../support/iam-policies.ts";
import { referenceProblems } from "../../support/iam-reference.ts";

const cases = partitions.flatMap((scope) =>
  allPolicies(scope, longestFleet).map(({ name, document, limit }) => ({ ...scope, name, document, limit })),
);

describe("every policy, for the longest name of a fleet", () => {
  it.each(cases)("$name in $partition keeps room for what comes", ({ name, document, limit }) => {
    // The boundary says what everything on a spoke may do, in the smallest room that IAM has.
    expect(policyLength(document)).toBeLessThanOrEqual(limit * (name.startsWith("fleet boundary") ? 0.97 : 0.9));
  });

  it.each(cases)("$name in $partition says only what AWS knows and lets count", async ({ document }) => {
    expect(await referenceProblems(document)).toEqual([]);
  });
});

const problems = (Effect: "Allow" | "Deny", Action: string[], Resource: string[], Condition?: Condition) =>
  referenceProblems(policy({ Sid: "X", Effect, Action, Resource, ...(Condition && { Condition }) }));
const vpc = "arn:aws:ec2:*:*:vpc/*";
const role = "arn:aws:iam::000000000000:role/x";

describe("the check against the Service Authorization Reference", () => {
  it("finds an action and a service that AWS doesn't have", async () => {
    expect(await problems("Allow", ["ec2:CreateVPCs", "ec3:*", "ec2:CreateVpc"], [vpc])).toEqual([
      "X: AWS has no action ec2:CreateVPCs",
      "X: AWS has no action ec3:*",
    ]);
  });

  it("finds a resource that no action of the statement acts on, and an action that acts on none of its resources", async () => {
    expect(await problems("Allow", ["ec2:CreateVpc"], [vpc, "arn:aws:ec2:*:*:subnet/*"])).toEqual([
      "X: none of its actions acts on arn:aws:ec2:*:*:subnet/*",
    ]);
    expect(await problems("Allow", ["iam:GetRole", "iam:RemoveRoleFromInstanceProfile"], [role])).toEqual([
      `X: iam:RemoveRoleFromInstanceProfile acts on none of ${role}`,
    ]);
  });

  it("finds an action that knows no resources in a statement that names one", async () => {
    expect(await problems("Allow", ["ec2:DescribeVpcs"], [vpc])).toContain(
      `X: ec2:DescribeVpcs acts on none of ${vpc}`,
    );
    expect(await problems("Allow", ["ec2:DescribeVpcs"], ["*"])).toEqual([]);
  });

  it("finds a condition that the action can't have, so that nothing is allowed or denied", async () => {
    const tagged = { StringEquals: { "aws:ResourceTag/a": "b" } };
    const never = "has not all of the keys aws:ResourceTag/a, so the statement never counts";
    expect(await problems("Allow", ["ec2:CreateInternetGateway"], ["*"], tagged)).toEqual([
      `X: ec2:CreateInternetGateway ${never}`,
    ]);
    expect(await problems("Deny", ["ec2:DescribeVpcs"], ["*"], tagged)).toEqual([`X: ec2:DescribeVpcs ${never}`]);
    expect(await problems("Allow", ["ec2:DeleteVpc"], ["*"], tagged)).toEqual([]);
  });

  it("finds a condition that lets everything pass, because the action never has its key", async () => {
    const ifThere = { StringEqualsIfExists: { "iam:PolicyARN": "arn:aws:iam::aws:policy/x" } };
    expect(await problems("Allow", ["iam:AttachRolePolicy", "iam:DeleteRole"], [role], ifThere)).toEqual([
      `X: iam:DeleteRole on ${role} has none of the keys that limit it`,
    ]);
  });

  it("takes keys that every request has, and tells those of tags by their beginning", async () => {
    const Condition = { StringEquals: { "aws:RequestedRegion": "x", "aws:RequestTag/a": "b" } };
    expect(await problems("Allow", ["ec2:CreateVpc"], [vpc], Condition)).toEqual([]);
  });
});
