import { describe, expect, it } from "vitest";
import { natGatewayHours } from "../../../lib/costs/rates.ts";
import { type Condition, partitionOf, policy, type Scope } from "../../../lib/iam/policy.ts";
import { policyLength } from "../../support/iam.ts";
import { allPolicies, longestFleet, partitions } from "../../support/iam-policies.ts";
import { referenceProblems } from "../../support/iam-reference.ts";

/** Characters that each policy leaves of what IAM has for it: for a right or two, before it must be divided. */
const room = 200;

const account = { accountId: "000000000000" };
const commercial = Object.keys(natGatewayHours).filter((region) => partitionOf(region) === "aws");
const ofPartitions = {
  aws: commercial,
  "aws-cn": ["cn-northwest-1", "cn-north-1"],
  "aws-us-gov": ["us-gov-west-1", "us-gov-east-1"],
} as const;

/** Each region alone, all of China and of GovCloud, and the six of the commercial partition with the longest names. */
const placesOfSpokes: readonly Scope[] = Object.entries(ofPartitions).flatMap(([partition, regions]) => {
  const [region = "", ...otherRegions] = [...regions].sort((a, b) => b.length - a.length).slice(0, 6);
  return [
    ...regions.map((each) => ({ ...account, partition, region: each })),
    { ...account, partition, region, otherRegions },
  ];
});

const cases = partitions.flatMap((scope) =>
  allPolicies(scope, longestFleet).map(({ name, document, limit }) => ({ ...scope, name, document, limit })),
);

describe("every policy, for the longest name of a fleet", () => {
  it.each(cases)("$name in $partition keeps room for what comes", ({ document, limit }) => {
    expect(limit - policyLength(document)).toBeGreaterThanOrEqual(room);
  });

  it.each(cases)("$name in $partition says only what AWS knows and lets count", async ({ document }) => {
    expect(await referenceProblems(document)).toEqual([]);
  });
});

describe("every policy of an account with spokes, for the longest name of a fleet", () => {
  it.each(placesOfSpokes.map((scope) => ({ ...scope, all: [scope.region, ...(scope.otherRegions ?? [])].join(", ") })))(
    "keeps room for what comes in $all",
    ({ all: _, ...scope }) => {
      const short = allPolicies(scope, longestFleet)
        .filter(({ name }) => /^Crossplane|^(fleet|tenant) boundary/.test(name))
        .map(({ name, document, limit }) => [name, limit - policyLength(document)] as const)
        .filter(([, left]) => left < room);
      expect(short).toEqual([]);
    },
  );
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
