import { describe, expect, it } from "vitest";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { crossplanePolicy } from "../../../lib/iam/crossplane.ts";
import { policyLimits } from "../../../lib/iam/policy.ts";
import { spokeCrossplanePolicy, tenantBoundary } from "../../../lib/iam/tenants.ts";
import { secretReaderPolicy, spokeViewerPolicy } from "../../../lib/iam/workloads.ts";
import { allowed, policyLength } from "../../support/iam.ts";

const account = { partition: "aws", accountId: "000000000000", region: "us-east-1" };
const role = (name: string) => `arn:aws:iam::000000000000:role/${name}`;
const boundaryArn = "arn:aws:iam::000000000000:policy/fleet-boundary";
const tenantBoundaryArn = "arn:aws:iam::000000000000:policy/fleet-tenant-boundary";
const hubOidcProviderArn = "arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/HUB";
const crossplane = crossplanePolicy({
  ...account,
  fleet: "fleet",
  dnsSuffix: "amazonaws.com",
  spokePrefix: "fleet-spoke-",
  boundaryArn,
  tenantBoundaryArn,
  hubOidcProviderArn,
});
const spokeRole = role("fleet-spoke-blue-node");
const region = { "aws:RequestedRegion": "us-east-1" };
const ofFleet = { "aws:ResourceTag/fleet.internal/fleet": "fleet" };
const untagged = { context: region };

/** An allowed request, and what makes the same request refused. */
type Twin = [
  string,
  { action: string; resource: string; context?: Record<string, string> },
  { action?: string; resource?: string; context?: Record<string, string> },
];

const twins: Twin[] = [
  [
    "create a role without the boundary",
    { action: "iam:CreateRole", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { context: {} },
  ],
  [
    "create a role with another boundary",
    { action: "iam:CreateRole", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { context: { "iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess" } },
  ],
  [
    "create a role outside the prefix",
    { action: "iam:CreateRole", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { resource: role("admin") },
  ],
  [
    "create a role under a name of the hub",
    { action: "iam:CreateRole", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { resource: role("fleet-hub-x") },
  ],
  [
    "give rights to a role that has no boundary",
    { action: "iam:PutRolePolicy", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { context: {} },
  ],
  [
    "give rights to itself",
    { action: "iam:AttachRolePolicy", resource: spokeRole, context: { "iam:PermissionsBoundary": boundaryArn } },
    { resource: role("fleet-hub-crossplane") },
  ],
  [
    "remove a boundary",
    { action: "iam:UpdateRole", resource: spokeRole },
    { action: "iam:DeleteRolePermissionsBoundary" },
  ],
  [
    "change a boundary",
    { action: "iam:UpdateRole", resource: spokeRole },
    { action: "iam:PutRolePermissionsBoundary", context: { "iam:PermissionsBoundary": boundaryArn } },
  ],
  [
    "pass a role outside the prefix",
    { action: "iam:PassRole", resource: spokeRole, context: { "iam:PassedToService": "eks.amazonaws.com" } },
    { resource: role("admin") },
  ],
  [
    "pass a role to another service",
    { action: "iam:PassRole", resource: spokeRole, context: { "iam:PassedToService": "ec2.amazonaws.com" } },
    { context: { "iam:PassedToService": "lambda.amazonaws.com" } },
  ],
  [
    "change who may assume a role of the hub",
    { action: "iam:UpdateAssumeRolePolicy", resource: spokeRole },
    { resource: role("fleet-hub-crossplane") },
  ],
  [
    "delete the hub's OIDC provider",
    {
      action: "iam:DeleteOpenIDConnectProvider",
      resource: "arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/SPOKE",
    },
    { resource: hubOidcProviderArn },
  ],
  [
    "register an identity provider whose host only begins like that of EKS",
    {
      action: "iam:CreateOpenIDConnectProvider",
      resource: "arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/SPOKE",
    },
    { resource: "arn:aws:iam::000000000000:oidc-provider/oidc.eks.evil.example/x.amazonaws.com/id/SPOKE" },
  ],
  [
    "delete the OIDC provider of another fleet",
    {
      action: "iam:DeleteOpenIDConnectProvider",
      resource: "arn:aws:iam::000000000000:oidc-provider/oidc-eks.us-east-1.api.aws/id/SPOKE",
      context: ofFleet,
    },
    { context: { "aws:ResourceTag/fleet.internal/fleet": "other" } },
  ],
  [
    "delete the hub's cluster",
    { action: "eks:DeleteCluster", resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-blue" },
    { resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub" },
  ],
  [
    "add a node group to the hub",
    {
      action: "eks:UpdateNodegroupConfig",
      resource: "arn:aws:eks:us-east-1:000000000000:nodegroup/fleet-spoke-blue/a/b",
    },
    { resource: "arn:aws:eks:us-east-1:000000000000:nodegroup/fleet-hub/a/b" },
  ],
  [
    "delete a network of the hub",
    {
      action: "ec2:DeleteVpc",
      resource: "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1",
      context: { ...region, ...ofFleet },
    },
    {
      context: {
        ...region,
        "aws:ResourceTag/fleet.internal/fleet": "fleet",
        "aws:ResourceTag/fleet.internal/cluster": "hub",
      },
    },
  ],
  [
    "take the hub's tag off its network",
    {
      action: "ec2:DeleteTags",
      resource: "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1",
      context: { ...region, ...ofFleet },
    },
    { context: { ...region, ...ofFleet, "aws:ResourceTag/fleet.internal/cluster": "hub" } },
  ],
  [
    "delete a network of another fleet",
    {
      action: "ec2:DeleteSubnet",
      resource: "*",
      context: { ...region, "aws:ResourceTag/fleet.internal/fleet": "fleet" },
    },
    { context: { ...region, "aws:ResourceTag/fleet.internal/fleet": "other" } },
  ],
  ...["DeleteVpc", "ModifyVpcAttribute", "DetachInternetGateway", "ReplaceRoute", "RevokeSecurityGroupIngress"].map(
    (action): Twin => [
      `call ${action} on a network without the fleet's tag, such as a VPC that the hub uses by its id`,
      { action: `ec2:${action}`, resource: "*", context: { ...region, ...ofFleet } },
      untagged,
    ],
  ),
  ...[
    ["DeleteNatGateway", "natgateway/nat-1"],
    ["DeleteLaunchTemplate", "launch-template/lt-1"],
    ["DisassociateRouteTable", "route-table/rtb-1"],
    ["CreateTags", "vpc/vpc-1"],
  ].map(
    ([action, resource]): Twin => [
      `call ${action} on a resource without the fleet's tag`,
      {
        action: `ec2:${action}`,
        resource: `arn:aws:ec2:us-east-1:000000000000:${resource}`,
        context: { ...region, ...ofFleet },
      },
      untagged,
    ],
  ),
  [
    "tag a resource that is there already, while tags that come with a new one pass",
    {
      action: "ec2:CreateTags",
      resource: "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1",
      context: { ...region, "ec2:CreateAction": "CreateVpc" },
    },
    untagged,
  ],
  [
    "delete the network interface of another cluster",
    {
      action: "ec2:DeleteNetworkInterface",
      resource: "*",
      context: { ...region, "aws:ResourceTag/cluster.k8s.amazonaws.com/name": "fleet-spoke-blue" },
    },
    { context: { ...region, "aws:ResourceTag/cluster.k8s.amazonaws.com/name": "fleet-hub" } },
  ],
  [
    "work in another region",
    { action: "ec2:CreateVpc", resource: "*", context: region },
    { context: { "aws:RequestedRegion": "eu-west-1" } },
  ],
  [
    "schedule the deletion of a key of the hub",
    {
      action: "kms:ScheduleKeyDeletion",
      resource: "arn:aws:kms:us-east-1:000000000000:key/1",
      context: { "aws:ResourceTag/fleet.internal/fleet": "fleet" },
    },
    { context: { "aws:ResourceTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/cluster": "hub" } },
  ],
  [
    "give a key of the hub another alias",
    {
      action: "kms:CreateAlias",
      resource: "arn:aws:kms:us-east-1:000000000000:key/1",
      context: { "aws:ResourceTag/fleet.internal/fleet": "fleet" },
    },
    { context: { "aws:ResourceTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/cluster": "hub" } },
  ],
  [
    "take an alias of the hub",
    { action: "kms:DeleteAlias", resource: "arn:aws:kms:us-east-1:000000000000:alias/fleet-spoke-blue" },
    { resource: "arn:aws:kms:us-east-1:000000000000:alias/fleet-secrets" },
  ],
  [
    "open the hub's own security group, which EKS made",
    { action: "ec2:AuthorizeSecurityGroupIngress", resource: "*", context: region },
    { context: { ...region, "aws:ResourceTag/aws:eks:cluster-name": "fleet-hub" } },
  ],
  [
    "read roles other than its own and service-linked ones",
    {
      action: "iam:GetRole",
      resource: role("aws-service-role/eks-nodegroup.amazonaws.com/AWSServiceRoleForAmazonEKSNodegroup"),
    },
    { resource: role("admin") },
  ],
  [
    "take a key of another fleet into this one",
    {
      action: "kms:TagResource",
      resource: "arn:aws:kms:us-east-1:000000000000:key/1",
      context: { "aws:RequestTag/fleet.internal/fleet": "fleet" },
    },
    {
      context: {
        "aws:RequestTag/fleet.internal/fleet": "fleet",
        "aws:ResourceTag/fleet.internal/fleet": "other",
      },
    },
  ],
  [
    "make a key without the fleet's tag",
    { action: "kms:CreateKey", resource: "*", context: { "aws:RequestTag/fleet.internal/fleet": "fleet" } },
    { context: {} },
  ],
];

describe("Crossplane's role", () => {
  it.each(twins)("can not %s, while the allowed twin passes", (_name, twin, difference) => {
    expect(allowed(crossplane, twin)).toBe(true);
    expect(allowed(crossplane, { ...twin, ...difference })).toBe(false);
  });

  it.each(["iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:SetDefaultPolicyVersion"])(
    "can not %s on the boundary policies",
    (action) => {
      expect(allowed(crossplane, { action, resource: boundaryArn })).toBe(false);
      expect(allowed(crossplane, { action, resource: tenantBoundaryArn })).toBe(false);
    },
  );

  it.each(["secretsmanager:GetSecretValue", "iam:CreateUser", "iam:CreateAccessKey", "sts:AssumeRole", "s3:GetObject"])(
    "can not %s",
    (action) => {
      expect(allowed(crossplane, { action, resource: "*" })).toBe(false);
    },
  );

  it("fits into a role's inline policies", () => {
    expect(policyLength(crossplane)).toBeLessThan(policyLimits.inlineRole);
  });
});

describe("the boundary of the fleet's roles", () => {
  const boundary = spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn });
  const secret = (name: string) => `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}-AbCdEf`;

  it("reads sealing keys, Git credentials of spokes and no other secret", () => {
    expect(
      allowed(boundary, { action: "secretsmanager:GetSecretValue", resource: secret("fleet/git/spokes/blue") }),
    ).toBe(true);
    expect(
      allowed(boundary, { action: "secretsmanager:GetSecretValue", resource: secret("fleet/sealing-keys/dev/1") }),
    ).toBe(true);
    expect(
      allowed(boundary, { action: "secretsmanager:GetSecretValue", resource: secret("fleet/git/gitops-system") }),
    ).toBe(false);
  });

  it.each([
    "iam:CreateRole",
    "iam:PutRolePolicy",
    "iam:PassRole",
    "iam:CreateUser",
    "iam:DeleteRolePermissionsBoundary",
  ])("never allows %s", (action) => {
    expect(allowed(boundary, { action, resource: "*", context: region })).toBe(false);
  });

  it("lets a spoke make roles for its applications, with the tenants' boundary only", () => {
    const twin = {
      action: "iam:CreateRole",
      resource: role("fleet-spoke-blue_payment"),
      context: { "iam:PermissionsBoundary": tenantBoundaryArn },
    };
    expect(allowed(boundary, twin)).toBe(true);
    expect(allowed(boundary, { ...twin, context: { "iam:PermissionsBoundary": boundaryArn } })).toBe(false);
    expect(allowed(boundary, { ...twin, resource: spokeRole })).toBe(false);
  });

  it("ends at the region, and before the deletion of clusters and keys", () => {
    expect(allowed(boundary, { action: "dynamodb:PutItem", resource: "*", context: region })).toBe(true);
    expect(
      allowed(boundary, { action: "dynamodb:PutItem", resource: "*", context: { "aws:RequestedRegion": "eu-west-1" } }),
    ).toBe(false);
    expect(allowed(boundary, { action: "eks:DeleteCluster", resource: "*", context: region })).toBe(false);
  });

  it("fits into a managed policy", () => expect(policyLength(boundary)).toBeLessThan(policyLimits.managed));
});

describe("a spoke's own Crossplane", () => {
  const policy = spokeCrossplanePolicy({ ...account, cluster: "fleet-spoke-blue", boundaryArn, tenantBoundaryArn });
  const table = (name: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
  const queue = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

  it.each([
    ["dynamodb:CreateTable", table("fleet-spoke-blue_payments"), table("fleet-spoke-blue-2_payments")],
    ["sqs:CreateQueue", queue("fleet-spoke-blue_payments"), queue("fleet-spoke-red_payments")],
    ["iam:DeleteRole", role("fleet-spoke-blue_payment"), role("fleet-spoke-blue-node")],
  ])("may %s under its own name, not under another spoke's", (action, own, other) => {
    expect(allowed(policy, { action, resource: own })).toBe(true);
    expect(allowed(policy, { action, resource: other })).toBe(false);
  });

  it("makes roles with the tenants' boundary only, and reads no table", () => {
    const twin = { action: "iam:CreateRole", resource: role("fleet-spoke-blue_payment") };
    expect(allowed(policy, { ...twin, context: { "iam:PermissionsBoundary": tenantBoundaryArn } })).toBe(true);
    expect(allowed(policy, twin)).toBe(false);
    expect(allowed(policy, { action: "dynamodb:GetItem", resource: table("fleet-spoke-blue_payments") })).toBe(false);
    expect(allowed(policy, { action: "iam:DeleteRolePermissionsBoundary", resource: twin.resource })).toBe(false);
  });

  it("fits into a role's inline policies", () => expect(policyLength(policy)).toBeLessThan(policyLimits.inlineRole));
});

describe("the boundary of applications", () => {
  const boundary = tenantBoundary(account);

  it("ends at the tables and queues of spokes", () => {
    const resource = "arn:aws:dynamodb:us-east-1:000000000000:table/fleet-spoke-blue_payments";
    expect(allowed(boundary, { action: "dynamodb:PutItem", resource })).toBe(true);
    expect(allowed(boundary, { action: "dynamodb:PutItem", resource: resource.replace("fleet-spoke", "other") })).toBe(
      false,
    );
    expect(allowed(boundary, { action: "iam:CreateRole", resource: role("fleet-spoke-blue_payment") })).toBe(false);
  });
});

describe("workload roles", () => {
  const secretArn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:fleet/git/gitops-system-AbCdEf";
  const keyArn = "arn:aws:kms:us-east-1:000000000000:key/1";
  const reader = secretReaderPolicy({
    secretArns: [secretArn],
    keyArn,
    region: "us-east-1",
    dnsSuffix: "amazonaws.com",
  });

  it("External Secrets reads exactly its secrets, and uses the key through Secrets Manager only", () => {
    expect(allowed(reader, { action: "secretsmanager:GetSecretValue", resource: secretArn })).toBe(true);
    expect(
      allowed(reader, { action: "secretsmanager:GetSecretValue", resource: secretArn.replace("system", "workloads") }),
    ).toBe(false);
    expect(allowed(reader, { action: "secretsmanager:PutSecretValue", resource: secretArn })).toBe(false);
    const viaService = { "kms:ViaService": "secretsmanager.us-east-1.amazonaws.com" };
    expect(allowed(reader, { action: "kms:Decrypt", resource: keyArn, context: viaService })).toBe(true);
    expect(allowed(reader, { action: "kms:Decrypt", resource: keyArn })).toBe(false);
  });

  it("Flux looks up spokes, not the hub", () => {
    const viewer = spokeViewerPolicy(account, "fleet-spoke-");
    expect(
      allowed(viewer, {
        action: "eks:DescribeCluster",
        resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-a",
      }),
    ).toBe(true);
    expect(
      allowed(viewer, {
        action: "eks:DescribeCluster",
        resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub",
      }),
    ).toBe(false);
  });
});
