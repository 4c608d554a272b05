import { describe, expect, it } from "vitest";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { arns, policy } from "../../../lib/iam/policy.ts";
import { tenantBoundary } from "../../../lib/iam/tenants.ts";
import { identityTag, principalTags } from "../../../lib/labels.ts";
import { allowed, asks } from "../../support/iam.ts";
import { permits, type Session } from "../../support/iam-effective.ts";
import { crossplaneRights } from "../../support/iam-policies.ts";
import { referenceProblems } from "../../support/iam-reference.ts";

/** The fleet's policies where spokes are in several regions, or in another account than the hub. */

const hub = { partition: "aws", accountId: "111111111111", region: "us-east-1" };
const other = { partition: "aws", accountId: "222222222222", region: "eu-west-1", otherRegions: ["eu-west-2"] };
const keyArn = arns(hub).kmsKey("1234");
const boundaryOf = (scope: typeof hub, secretsOf?: typeof hub) =>
  spokeBoundary({
    ...scope,
    fleet: "fleet",
    tenantBoundaryArn: arns(scope).policy("fleet-tenant-boundary"),
    ...(secretsOf && { secretsOf: { ...secretsOf, keyArn } }),
  });
const session = (identity: string): Session => ({
  roleArn: arns(other).role(`fleet-spoke-blue-${identity}`),
  tags: { [identityTag]: identity, [principalTags.cluster]: "fleet-spoke-blue" },
  policy: policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] }),
  boundary: boundaryOf(other, hub),
});

describe("the boundary in another account", () => {
  const reads = (identity: string, name: string, from = hub) =>
    permits(
      session(identity),
      asks("secretsmanager:GetSecretValue", arns(from).secret(name), { "aws:RequestedRegion": "us-east-1" }),
    );

  it("leaves External Secrets the sealing keys in the hub's account, and nobody else anything of it", () => {
    expect(reads("external-secrets", "fleet/sealing-keys/dev/1-AbCdEf")).toBe(true);
    expect(reads("external-secrets", "fleet/git/gitops-system-AbCdEf")).toBe(false);
    expect(reads("crossplane", "fleet/sealing-keys/dev/1-AbCdEf")).toBe(false);
    expect(reads("external-secrets", "fleet/sealing-keys/dev/1-AbCdEf", { ...hub, accountId: "333333333333" })).toBe(
      false,
    );
  });

  it("lets it decrypt with the hub's key of secrets, and with no other of any account", () => {
    const decrypts = (resource: string, tags: Readonly<Record<string, string>> = {}) =>
      permits(session("external-secrets"), {
        ...asks("kms:Decrypt", resource),
        context: {
          "aws:RequestedRegion": "us-east-1",
          "kms:ViaService": "secretsmanager.us-east-1.amazonaws.com",
          ...tags,
        },
      });
    expect(decrypts(keyArn)).toBe(true);
    expect(decrypts(arns(hub).kmsKey("5678"), { "aws:ResourceTag/fleet.internal/fleet": "fleet" })).toBe(false);
    expect(decrypts(arns(other).kmsKey("5678"), { "aws:ResourceTag/fleet.internal/fleet": "fleet" })).toBe(false);
  });
});

describe("images", () => {
  const pulls = (region: string, secretsOf?: typeof hub, scope = other) =>
    permits(
      { ...session("node"), boundary: boundaryOf(scope, secretsOf) },
      asks("ecr:BatchGetImage", `arn:aws:ecr:${region}:111111111111:repository/mirror`, {
        "aws:RequestedRegion": region,
      }),
    );

  it("are pulled from the regions of the account and from the hub's, and from no other", () => {
    const regions = ["eu-west-1", "eu-west-2", "us-east-1", "us-west-2"];
    expect(regions.map((region) => pulls(region, hub))).toEqual([true, true, true, false]);
    // Not where AWS has its global services either.
    expect(regions.map((region) => pulls(region))).toEqual([true, true, false, false]);
    const one = { ...other, otherRegions: [] };
    expect(regions.map((region) => pulls(region, hub, one))).toEqual([true, false, true, false]);
    expect(regions.map((region) => pulls(region, undefined, one))).toEqual([true, false, false, false]);
  });
});

describe("policies for several regions", () => {
  const orders = (region: string) =>
    permits(
      session("crossplane"),
      asks("dynamodb:CreateTable", `arn:aws:dynamodb:${region}:222222222222:table/fleet-spoke-blue_shop_orders`, {
        "aws:RequestedRegion": region,
      }),
    );
  const makes = (region: string, changes: Partial<typeof other> = {}) =>
    allowed(
      crossplaneRights({
        ...{ ...other, ...changes, fleet: "fleet", dnsSuffix: "amazonaws.com", spokePrefix: "fleet-spoke-" },
        boundaryArn: arns(other).policy("fleet-boundary"),
      }),
      asks("eks:CreateCluster", `arn:aws:eks:${region}:222222222222:cluster/fleet-spoke-blue`, {
        "aws:RequestedRegion": region,
      }),
    );
  const uses = (region: string) => {
    const tags = { [principalTags.cluster]: "fleet-spoke-blue", [principalTags.namespace]: "shop" };
    const everything = policy({ Effect: "Allow", Action: ["*"], Resource: ["*"] });
    const role: Session = {
      ...{ roleArn: arns(other).role("fleet-spoke-blue_shop_orders"), tags, policy: everything },
      boundary: tenantBoundary(other),
    };
    return permits(
      role,
      asks("dynamodb:GetItem", `arn:aws:dynamodb:${region}:222222222222:table/fleet-spoke-blue_shop_orders`, {
        "aws:RequestedRegion": region,
      }),
    );
  };

  it.each([
    ["what the Crossplane of a spoke orders", orders],
    ["the clusters that the hub's makes", makes],
    ["what an application uses", uses],
  ])("allow %s in each of them and in no other", (_what, may) => {
    expect(["eu-west-1", "eu-west-2", "eu-west-3", "us-west-2"].map((region) => may(region))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("let the hub's Crossplane make no cluster where AWS has its global services, unless it is one of them", () => {
    expect(makes("us-east-1")).toBe(false);
    expect(makes("us-east-1", { otherRegions: ["us-east-1"] })).toBe(true);
  });

  it("let roles be made, which IAM does in its own region", () => {
    const identity = session("crossplane");
    expect(
      permits(
        identity,
        asks("iam:CreateRole", arns(other).role("fleet-spoke-blue_shop_orders"), {
          "aws:RequestedRegion": "us-east-1",
          "iam:PermissionsBoundary": arns(other).policy("fleet-tenant-boundary"),
        }),
      ),
    ).toBe(true);
  });

  it("say only what AWS knows and lets count", async () => {
    for (const document of [boundaryOf(other, hub), tenantBoundary(other)])
      expect(await referenceProblems(document)).toEqual([]);
  });
});
