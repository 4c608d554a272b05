import { describe, expect, it } from "vitest";
import { providerPolicies } from "../../../lib/iam/crossplane.ts";
import { arns } from "../../../lib/iam/policy.ts";
import { roleTrust } from "../../../lib/iam/trust.ts";
import { allowed, policyLength } from "../../support/iam.ts";
import { allPolicies, longestFleet, partitions } from "../../support/iam-policies.ts";

/** As long as a stack may have it. */
const longestPath = `/${"p".repeat(62)}/`;

const cases = partitions.flatMap((scope) =>
  allPolicies({ ...scope, rolePath: longestPath }, longestFleet).map(({ name, document, limit }) => ({
    ...{ partition: scope.partition, name, document, limit },
  })),
);

describe("every policy of a fleet whose roles have a path", () => {
  it.each(cases)("$name in $partition fits, for the longest path and name of a fleet", ({ document, limit }) => {
    expect(policyLength(document)).toBeLessThanOrEqual(limit);
  });

  it.each(cases)("$name in $partition names no role of the fleet without it", ({ document }) => {
    const roles = JSON.stringify(document).match(/:role\/[^"]*/g) ?? [];
    const ofAws = roles.filter((role) => role.startsWith(":role/aws-service-role/"));
    expect(roles.filter((role) => !ofAws.includes(role) && !role.startsWith(`:role${longestPath}`))).toEqual([]);
  });
});

describe("Crossplane of a fleet whose roles have a path", () => {
  const scope = { partition: "aws", accountId: "000000000000", region: "us-east-1", rolePath: "/company/" };
  const boundaryArn = arns(scope).policy("fleet-boundary");
  const { iam } = providerPolicies({
    ...{ ...scope, fleet: "fleet", spokePrefix: "fleet-spoke-", boundaryArn, dnsSuffix: "amazonaws.com" },
  });
  const makes = (role: string) =>
    allowed([iam], {
      action: "iam:CreateRole",
      resource: `arn:aws:iam::000000000000:role${role}`,
      context: { "aws:RequestedRegion": "us-east-1", "iam:PermissionsBoundary": boundaryArn },
    });

  it("makes roles of spokes there, and nowhere besides", () => {
    expect(makes("/company/fleet-spoke-blue-node")).toBe(true);
    for (const role of ["/fleet-spoke-blue-node", "/other/fleet-spoke-blue-node", "/company/fleet-hub-node"])
      expect(makes(role), role).toBe(false);
  });
});

it("a role is trusted by its ARN with its path", () => {
  const named = arns({ partition: "aws", accountId: "000000000000", region: "", rolePath: "/company/" });
  expect(roleTrust({ partition: "aws", accountId: "000000000000" }, [named.role("a")]).Statement).toMatchObject([
    { Condition: { ArnEquals: { "aws:PrincipalArn": "arn:aws:iam::000000000000:role/company/a" } } },
  ]);
  expect(named.serviceLinkedRole("eks*")).toBe("arn:aws:iam::000000000000:role/aws-service-role/eks*");
});
