import { describe, expect, it } from "vitest";
import { addonBoundary, isAddonAction, reachesOthersIam } from "../../../lib/iam/addons.ts";
import { allowed, asks } from "../../support/iam.ts";
import { account, secret } from "./estate.ts";

const zone = "arn:aws:route53:::hostedzone/Z1";
const boundary = addonBoundary({ ...account, fleet: "fleet" }, [
  { actions: ["route53:ChangeResourceRecordSets"], resources: [zone] },
  // More than anybody should permit: what is denied stays denied.
  { actions: ["ec2:*", "eks:*", "elasticloadbalancing:*", "secretsmanager:*", "kms:*"], resources: ["*"] },
]);
const ofSpoke = { "aws:PrincipalTag/eks-cluster-name": "fleet-spoke-blue" };
const can = (action: string, resource: string, context: Record<string, string> = {}) =>
  allowed(boundary, asks(action, resource, { ...ofSpoke, "aws:RequestedRegion": "us-east-1", ...context }));

describe("the boundary of add-ons", () => {
  it("allows what the stack permits, on the resources that it names, and nothing else", () => {
    expect(can("route53:ChangeResourceRecordSets", zone)).toBe(true);
    expect(can("route53:ChangeResourceRecordSets", `${zone}2`)).toBe(false);
    expect(can("route53:DeleteHostedZone", zone)).toBe(false);
    expect(can("iam:CreateRole", "arn:aws:iam::000000000000:role/x")).toBe(false);
  });

  it("is limited to the fleet's region and, for global services, the partition's", () => {
    const elsewhere = addonBoundary({ ...account, region: "eu-west-1", fleet: "fleet" }, [
      { actions: ["ec2:*"], resources: ["*"] },
    ]);
    const inRegion = (region: string) =>
      allowed(elsewhere, asks("ec2:DescribeVpcs", "*", { ...ofSpoke, "aws:RequestedRegion": region }));
    expect(["eu-west-1", "us-east-1", "us-west-2"].map(inRegion)).toEqual([true, true, false]);
  });

  it.each([
    [
      "of another fleet's cluster or of the hub",
      "ec2:DescribeVpcs",
      "*",
      { "aws:PrincipalTag/eks-cluster-name": "fleet-hub" },
    ],
    [
      "on the hub's network",
      "ec2:DeleteVpc",
      "arn:aws:ec2:us-east-1:0:vpc/x",
      { "aws:ResourceTag/fleet.internal/cluster": "hub" },
    ],
    [
      "on a key of the fleet",
      "kms:Decrypt",
      "arn:aws:kms:us-east-1:0:key/x",
      { "aws:ResourceTag/fleet.internal/fleet": "fleet" },
    ],
    ["on the hub's cluster", "eks:CreateAccessEntry", "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub", {}],
    [
      "on who may act there",
      "eks:AssociateAccessPolicy",
      "arn:aws:eks:us-east-1:000000000000:access-entry/fleet-hub/role/a/b/c",
      {},
    ],
    ...(
      [
        ["UpdatePodIdentityAssociation", "podidentityassociation/fleet-hub/a-x"],
        ["DeleteFargateProfile", "fargateprofile/fleet-hub/x/y"],
        ["DisassociateIdentityProviderConfig", "identityproviderconfig/fleet-hub/oidc/x/y"],
        ["UpdateCapability", "capability/fleet-hub/argocd/x/y"],
        ["UpdateNodegroupConfig", "nodegroup/fleet-hub/x/y"],
        ["DeleteAddon", "addon/fleet-hub/x/y"],
      ] as const
    ).map(([call, part]): [string, string, string, object] => [
      `with ${call} on the hub`,
      `eks:${call}`,
      `arn:aws:eks:us-east-1:000000000000:${part}`,
      {},
    ]),
    ["on a secret of the fleet", "secretsmanager:GetSecretValue", secret("fleet/sealing-keys/dev/1"), {}],
  ])("allows nothing %s, whatever the stack permits", (_what, action, resource, context) => {
    expect(can(action, resource, context)).toBe(false);
  });

  it("leaves what restores volumes EBS's default key, through EC2, without a permission of the stack, and no other key", () => {
    const none = addonBoundary({ ...account, fleet: "fleet" }, []);
    const grant = (context: Record<string, string>) =>
      allowed(
        none,
        asks("kms:CreateGrant", "arn:aws:kms:us-east-1:000000000000:key/x", {
          ...ofSpoke,
          "aws:RequestedRegion": "us-east-1",
          ...context,
        }),
      );
    const volumeKey = { "kms:ViaService": "ec2.us-east-1.amazonaws.com", "kms:ResourceAliases": "alias/aws/ebs" };
    expect(grant(volumeKey)).toBe(true);
    expect(grant({ ...volumeKey, "kms:ResourceAliases": "alias/others" })).toBe(false);
    const throughRds = { "kms:ViaService": "rds.us-east-1.amazonaws.com" };
    expect(grant({ ...volumeKey, ...throughRds })).toBe(false);
    expect(grant({ ...throughRds, "kms:ResourceAliases": "alias/aws/rds" })).toBe(false);
    expect(grant({ "kms:ResourceAliases": "alias/aws/ebs" })).toBe(false);
  });

  it("leaves an add-on what is somebody else's and permitted", () => {
    expect(can("secretsmanager:GetSecretValue", secret("other/x"))).toBe(true);
    expect(can("kms:Decrypt", "arn:aws:kms:us-east-1:0:key/x")).toBe(true);
    expect(can("ec2:DeleteVpc", "arn:aws:ec2:us-east-1:0:vpc/x")).toBe(true);
  });
});

describe("what a stack may permit add-ons", () => {
  it.each([
    ...["route53:ListHostedZones", "ec2:Describe*", "iam:PassRole"],
    ...["iam:AddRoleToInstanceProfile", "elasticloadbalancing:*"],
  ])("%s", (action) => expect(isAddonAction(action)).toBe(true));

  it.each([
    ...["*", "*:*", "route53", "ro*te53:List", "iam:*", "iam:CreateRole", "iam:Pass*", "iam:AddRole*"],
    ...["iam:PutRolePolicy", "sts:AssumeRole", "organizations:*", "identitystore:CreateGroupMembership", ""],
  ])("not %o", (action) => expect(isAddonAction(action)).toBe(false));

  it.each(["iam:PassRole", "iam:AddRoleToInstanceProfile", "iam:DeleteInstanceProfile"])(
    "%s on what is a spoke's only",
    (action) => {
      const pass = (...resources: string[]) => reachesOthersIam({ actions: [action], resources }, "fleet");
      expect(pass("arn:aws:iam::000000000000:role/fleet-spoke-*")).toBe(false);
      expect(pass("arn:aws:iam::000000000000:role/fleet-spoke-*", "*")).toBe(true);
      expect(pass("arn:aws:iam::000000000000:role/fleet-hub-crossplane")).toBe(true);
      expect(pass("arn:aws:iam::*:instance-profile/karpenter/*/fleet-spoke-*")).toBe(false);
      expect(pass("arn:aws:iam::*:instance-profile/karpenter/us-east-1/fleet-hub/*")).toBe(true);
      expect(pass("arn:aws:iam::*:instance-profile/eks-*")).toBe(true);
      expect(reachesOthersIam({ actions: ["ec2:RunInstances"], resources: ["*"] }, "fleet")).toBe(false);
    },
  );
});
