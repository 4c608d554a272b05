import { describe, expect, it } from "vitest";
import { autoModeBoundary, autoModePolicies } from "../../../lib/iam/auto-mode.ts";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { arns } from "../../../lib/iam/policy.ts";
import { identityTag } from "../../../lib/labels.ts";
import { allowed, asks } from "../../support/iam.ts";
import { crossplaneRights } from "../../support/iam-policies.ts";
import { account, iam, role } from "./estate.ts";

const scope = { ...account, fleet: "fleet", spokePrefix: "fleet-spoke-" };
const boundary = autoModeBoundary(scope);
const ec2 = (kind: string) => `arn:aws:ec2:us-east-1:000000000000:${kind}/x`;

type Context = Readonly<Record<string, string>>;
/** The control plane of blue. */
const atBlue: Context = {
  "aws:PrincipalTag/eks-cluster-name": "fleet-spoke-blue",
  [`aws:PrincipalTag/${identityTag}`]: "cluster",
  "aws:RequestedRegion": "us-east-1",
};
const asBlue = (action: string, resource: string, context: Context = {}) =>
  allowed(boundary, asks(action, resource, { ...atBlue, ...context }));
const made = (cluster: string) => ({ "aws:RequestTag/eks:eks-cluster-name": cluster });
const of = (cluster: string) => ({ "aws:ResourceTag/eks:eks-cluster-name": cluster });

describe("the boundary of control planes with EKS Auto Mode", () => {
  it.each([
    ["RunInstances", "instance"],
    ["CreateFleet", "fleet"],
    ["CreateLaunchTemplate", "launch-template"],
    ["CreateVolume", "volume"],
    ["CreateSnapshot", "snapshot"],
    ["CreateNetworkInterface", "network-interface"],
    ["CreateSecurityGroup", "security-group"],
    ["AuthorizeSecurityGroupIngress", "security-group-rule"],
  ])("lets them call %s for what carries their own cluster's name", (call, kind) => {
    expect(asBlue(`ec2:${call}`, ec2(kind), made("fleet-spoke-blue"))).toBe(true);
    if (kind === "security-group") return;
    expect(asBlue(`ec2:${call}`, ec2(kind), made("fleet-spoke-green"))).toBe(false);
    expect(asBlue(`ec2:${call}`, ec2(kind))).toBe(false);
  });

  it.each([
    ["AttachVolume", "volume"],
    ["ModifyVolume", "volume"],
    ["AttachNetworkInterface", "network-interface"],
    ["AssignPrivateIpAddresses", "network-interface"],
    ["RunInstances", "launch-template"],
  ])("lets them call %s on their own cluster's, and on nobody else's", (call, kind) => {
    expect(asBlue(`ec2:${call}`, ec2(kind), of("fleet-spoke-blue"))).toBe(true);
    expect(asBlue(`ec2:${call}`, ec2(kind), of("fleet-spoke-green"))).toBe(false);
    expect(asBlue(`ec2:${call}`, ec2(kind))).toBe(false);
  });

  it("lets them start instances from any image in any subnet and group of the account that is not the hub's", () => {
    for (const resource of ["arn:aws:ec2:us-east-1::image/ami-1", ec2("subnet"), ec2("security-group")])
      expect(asBlue("ec2:RunInstances", resource), resource).toBe(true);
    const hubs = { "aws:ResourceTag/fleet.internal/cluster": "hub" };
    expect(asBlue("ec2:RunInstances", ec2("subnet"), hubs)).toBe(false);
    expect(
      asBlue("ec2:RunInstances", ec2("security-group"), { "aws:ResourceTag/aws:eks:cluster-name": "fleet-hub" }),
    ).toBe(false);
  });

  it("lets them pass roles of spokes to EC2, no role of the hub, and none to another service", () => {
    const toEc2 = { "iam:PassedToService": "ec2.amazonaws.com" };
    expect(asBlue("iam:PassRole", role("fleet-spoke-blue-node"), toEc2)).toBe(true);
    expect(asBlue("iam:PassRole", role("fleet-hub-crossplane-iam"), toEc2)).toBe(false);
    expect(asBlue("iam:PassRole", role("admin"), toEc2)).toBe(false);
    expect(
      asBlue("iam:PassRole", role("fleet-spoke-blue-node"), { "iam:PassedToService": "lambda.amazonaws.com" }),
    ).toBe(false);
    expect(asBlue("iam:AddRoleToInstanceProfile", iam("instance-profile/eks-us-east-1-blue-1"))).toBe(true);
    expect(asBlue("iam:AddRoleToInstanceProfile", iam("instance-profile/admin"))).toBe(false);
  });

  it("lets them do nothing with IAM, secrets and data, and nobody without a cluster of the fleet anything", () => {
    for (const action of [
      ...["iam:CreateRole", "iam:PutRolePolicy", "secretsmanager:GetSecretValue", "s3:GetObject", "sts:AssumeRole"],
    ])
      expect(asBlue(action, "*"), action).toBe(false);
    const context = { ...atBlue, "aws:PrincipalTag/eks-cluster-name": "fleet-hub", ...made("fleet-hub") };
    expect(allowed(boundary, asks("ec2:RunInstances", ec2("instance"), context))).toBe(false);
  });

  it("is needed: under the fleet's boundary no control plane starts an instance", () => {
    const ofFleet = spokeBoundary({
      ...account,
      fleet: "fleet",
      tenantBoundaryArn: iam("policy/fleet-tenant-boundary"),
    });
    const context = { ...atBlue, ...made("fleet-spoke-blue") };
    expect(allowed(ofFleet, asks("ec2:RunInstances", ec2("instance"), context))).toBe(false);
  });
});

describe("Crossplane on the hub", () => {
  const policy = crossplaneRights({ ...scope, dnsSuffix: "amazonaws.com", boundaryArn: iam("policy/fleet-boundary") });
  const name = arns(account);
  const attach = (policyName: string, boundaryName = "fleet-auto-mode-boundary") =>
    allowed(
      policy,
      asks("iam:AttachRolePolicy", role("fleet-spoke-blue-cluster"), {
        "iam:PermissionsBoundary": iam(`policy/${boundaryName}`),
        "iam:PolicyARN": name.managedPolicy(policyName),
      }),
    );

  it("gives the roles their policies under that boundary, and no other policy or boundary", () => {
    for (const each of [...autoModePolicies.cluster, ...autoModePolicies.node]) expect(attach(each), each).toBe(true);
    for (const each of ["AdministratorAccess", "AmazonEKSVPCResourceController", "IAMFullAccess"])
      expect(attach(each), each).toBe(false);
    expect(attach("AmazonEKSComputePolicy", "other-boundary")).toBe(false);
  });
});
