import { describe, expect, it } from "vitest";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { databaseDigest, databaseName, databaseSubnets } from "../../../lib/iam/databases.ts";
import { spokeCrossplanePolicy, tenantBoundary } from "../../../lib/iam/tenants.ts";
import { secretReaderPolicy, spokeViewerPolicy } from "../../../lib/iam/workloads.ts";
import { allowed, asks, type Twin, twin } from "../../support/iam.ts";
import { crossplaneRights } from "../../support/iam-policies.ts";
import { actionsOf } from "../../support/iam-reference.ts";
import { databasesOf } from "./estate.ts";

const account = { partition: "aws", accountId: "000000000000", region: "us-east-1" };
const role = (name: string) => `arn:aws:iam::000000000000:role/${name}`;
const boundaryArn = "arn:aws:iam::000000000000:policy/fleet-boundary";
const tenantBoundaryArn = "arn:aws:iam::000000000000:policy/fleet-tenant-boundary";
const hubOidcProviderArn = "arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/HUB";
const crossplane = crossplaneRights({
  ...account,
  fleet: "fleet",
  dnsSuffix: "amazonaws.com",
  spokePrefix: "fleet-spoke-",
  boundaryArn,
  hubOidcProviderArn,
});
const spokeRole = role("fleet-spoke-blue-node");
const region = { "aws:RequestedRegion": "us-east-1" };
const ofFleet = { "aws:ResourceTag/fleet.internal/fleet": "fleet" };
const ofOther = { "aws:ResourceTag/fleet.internal/fleet": "other" };
const changing = { ...region, ...ofFleet };
const untagged = { context: region };

const attach = "ec2:CreateTransitGatewayVpcAttachment";
const sharedWith = (fleet: string) => ({ "aws:ResourceTag/fleet.internal/shared-network": fleet });

/** The call that makes a kind of network resource. */
const made: Readonly<Record<string, string>> = {
  "elastic-ip": "ec2:AllocateAddress",
  "internet-gateway": "ec2:CreateInternetGateway",
  "launch-template": "ec2:CreateLaunchTemplate",
  natgateway: "ec2:CreateNatGateway",
  "route-table": "ec2:CreateRouteTable",
  "transit-gateway-attachment": "ec2:CreateTransitGatewayVpcAttachment",
  subnet: "ec2:CreateSubnet",
  vpc: "ec2:CreateVpc",
  "vpc-endpoint": "ec2:CreateVpcEndpoint",
  "vpc-flow-log": "ec2:CreateFlowLogs",
};
const withTag = { "aws:RequestTag/fleet.internal/fleet": "fleet" };
const making = { ...region, ...withTag };
const bounded = { "iam:PermissionsBoundary": boundaryArn };
const cniPolicy = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy";
const attachCni = asks("iam:AttachRolePolicy", spokeRole, {
  "iam:PermissionsBoundary": boundaryArn,
  "iam:PolicyARN": cniPolicy,
});
const provider = (id: string) => `arn:aws:iam::000000000000:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/${id}`;
const ec2 = (resource: string) => `arn:aws:ec2:us-east-1:000000000000:${resource}/x`;
const key = "arn:aws:kms:us-east-1:000000000000:key/1";

const podIdentity = asks(
  "eks:CreatePodIdentityAssociation",
  "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-blue",
);
const ofBlue = "arn:aws:eks:us-east-1:000000000000:podidentityassociation/fleet-spoke-blue/a-1";
const toPods = { "iam:PassedToService": "pods.eks.amazonaws.com" };

const twins: Twin[] = [
  twin("give pods of the hub a role", podIdentity, {
    resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub",
  }),
  twin("take the role away from pods of the hub", asks("eks:DeletePodIdentityAssociation", ofBlue), {
    resource: ofBlue.replace("fleet-spoke-blue", "fleet-hub"),
  }),
  twin("tag an association of the hub", asks("eks:TagResource", ofBlue), {
    resource: ofBlue.replace("fleet-spoke-blue", "fleet-hub"),
  }),
  twin("pass a role of the hub to pods", asks("iam:PassRole", role("fleet-spoke-blue-crossplane"), toPods), {
    resource: role("fleet-hub-crossplane"),
  }),
  twin("create a role without the boundary", asks("iam:CreateRole", spokeRole, bounded), { context: {} }),
  twin("create a role with another boundary", asks("iam:CreateRole", spokeRole, bounded), {
    context: { "iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess" },
  }),
  twin("create a role outside the prefix", asks("iam:CreateRole", spokeRole, bounded), { resource: role("admin") }),
  twin("create a role under a name of the hub", asks("iam:CreateRole", spokeRole, bounded), {
    resource: role("fleet-hub-x"),
  }),
  twin("give rights to a role that has no boundary", asks("iam:PutRolePolicy", spokeRole, bounded), { context: {} }),
  twin("give rights to itself", attachCni, { resource: role("fleet-hub-crossplane") }),
  twin("attach a managed policy that no spoke needs", attachCni, {
    context: { ...attachCni.context, "iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess" },
  }),
  twin("attach a policy to a role that has no boundary", attachCni, { context: { "iam:PolicyARN": cniPolicy } }),
  twin("remove a boundary", asks("iam:UpdateRole", spokeRole), { action: "iam:DeleteRolePermissionsBoundary" }),
  twin("change a boundary", asks("iam:UpdateRole", spokeRole), {
    action: "iam:PutRolePermissionsBoundary",
    context: bounded,
  }),
  twin(
    "pass a role outside the prefix",
    asks("iam:PassRole", spokeRole, { "iam:PassedToService": "eks.amazonaws.com" }),
    { resource: role("admin") },
  ),
  twin(
    "pass a role outside the prefix to the service that writes flow logs",
    asks("iam:PassRole", role("fleet-spoke-blue-flow-logs"), { "iam:PassedToService": "vpc-flow-logs.amazonaws.com" }),
    { resource: role("fleet-hub-crossplane") },
  ),
  twin(
    "pass a role to another service",
    asks("iam:PassRole", spokeRole, { "iam:PassedToService": "ec2.amazonaws.com" }),
    { context: { "iam:PassedToService": "lambda.amazonaws.com" } },
  ),
  twin("change who may assume a role of the hub", asks("iam:UpdateAssumeRolePolicy", spokeRole), {
    resource: role("fleet-hub-crossplane"),
  }),
  twin("delete the hub's OIDC provider", asks("iam:DeleteOpenIDConnectProvider", provider("SPOKE"), ofFleet), {
    resource: hubOidcProviderArn,
  }),
  twin(
    "delete an OIDC provider without the fleet's tag, such as the hub's of another fleet",
    asks("iam:DeleteOpenIDConnectProvider", provider("SPOKE"), ofFleet),
    { context: {} },
  ),
  twin(
    "delete the OIDC provider of another fleet",
    asks("iam:DeleteOpenIDConnectProvider", provider("SPOKE"), ofFleet),
    { context: ofOther },
  ),
  twin(
    "register an OIDC provider without the fleet's tag",
    asks("iam:CreateOpenIDConnectProvider", provider("SPOKE"), withTag),
    { context: {} },
  ),
  twin(
    "take the OIDC provider of another fleet into this one",
    asks("iam:TagOpenIDConnectProvider", provider("SPOKE"), withTag),
    { context: { ...withTag, "aws:ResourceTag/fleet.internal/fleet": "other" } },
  ),
  twin(
    "register an identity provider whose host only begins like that of EKS",
    asks("iam:CreateOpenIDConnectProvider", provider("SPOKE"), withTag),
    { resource: "arn:aws:iam::000000000000:oidc-provider/oidc.eks.evil.example/x.amazonaws.com/id/SPOKE" },
  ),
  twin(
    "delete the hub's cluster",
    asks("eks:DeleteCluster", "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-blue"),
    { resource: "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub" },
  ),
  twin(
    "add a node group to the hub",
    asks("eks:UpdateNodegroupConfig", "arn:aws:eks:us-east-1:000000000000:nodegroup/fleet-spoke-blue/a/b"),
    { resource: "arn:aws:eks:us-east-1:000000000000:nodegroup/fleet-hub/a/b" },
  ),
  twin("delete a network of the hub", asks("ec2:DeleteVpc", "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1", changing), {
    context: {
      ...region,
      "aws:ResourceTag/fleet.internal/fleet": "fleet",
      "aws:ResourceTag/fleet.internal/cluster": "hub",
    },
  }),
  twin(
    "take the hub's tag off its network",
    asks("ec2:DeleteTags", "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1", changing),
    { context: { ...region, ...ofFleet, "aws:ResourceTag/fleet.internal/cluster": "hub" } },
  ),
  twin("delete a network of another fleet", asks("ec2:DeleteSubnet", "*", changing), {
    context: { ...region, "aws:ResourceTag/fleet.internal/fleet": "other" },
  }),
  ...["DeleteVpc", "ModifyVpcAttribute", "AssociateVpcCidrBlock", "DetachInternetGateway", "ReplaceRoute"].map(
    (action): Twin => [
      `call ${action} on a network without the fleet's tag, such as a VPC that the hub uses by its id`,
      asks(`ec2:${action}`, "*", changing),
      untagged,
    ],
  ),
  [
    "put an interface endpoint into a subnet without the fleet's tag",
    asks("ec2:ModifyVpcEndpoint", ec2("subnet"), changing),
    untagged,
  ],
  [
    "let an endpoint without the fleet's tag join a group, which it may with one that has it",
    asks("ec2:ModifyVpcEndpoint", ec2("vpc-endpoint"), changing),
    untagged,
  ],
  twin(
    "change what a security group lets in, which endpoints only join",
    asks("ec2:ModifyVpcEndpoint", ec2("security-group"), region),
    { action: "ec2:AuthorizeSecurityGroupIngress" },
  ),
  twin(
    "change names in hosted zones, which VPCs only join",
    asks("route53:AssociateVPCWithHostedZone", "arn:aws:route53:::hostedzone/Z1"),
    { action: "route53:ChangeResourceRecordSets" },
  ),
  ...[
    ["DeleteNatGateway", "natgateway/nat-1"],
    ["DeleteLaunchTemplate", "launch-template/lt-1"],
    ["DisassociateRouteTable", "route-table/rtb-1"],
    ["DeleteFlowLogs", "vpc-flow-log/fl-1"],
    ["DeleteTransitGatewayVpcAttachment", "transit-gateway-attachment/tgw-attach-1"],
    ["CreateTags", "vpc/vpc-1"],
  ].map(
    ([action, resource]): Twin => [
      `call ${action} on a resource without the fleet's tag`,
      asks(`ec2:${action}`, `arn:aws:ec2:us-east-1:000000000000:${resource}`, changing),
      untagged,
    ],
  ),
  [
    "tag a resource that is there already, while tags that come with a new one pass",
    asks("ec2:CreateTags", "arn:aws:ec2:us-east-1:000000000000:vpc/vpc-1", {
      ...region,
      "ec2:CreateAction": "CreateVpc",
    }),
    untagged,
  ],
  ["free an address without the fleet's tag", asks("ec2:DisassociateAddress", ec2("elastic-ip"), changing), untagged],
  twin("work in another region", asks("ec2:CreateVpc", ec2("vpc"), making), {
    context: { ...withTag, "aws:RequestedRegion": "eu-west-1" },
  }),
  ...[
    ...["elastic-ip", "internet-gateway", "launch-template", "natgateway", "route-table", "subnet", "vpc"],
    ...["vpc-flow-log", "transit-gateway-attachment"],
  ].map(
    (kind): Twin => [
      `make a resource of the kind ${kind} without the fleet's tag`,
      asks(made[kind] ?? "", ec2(kind), making),
      untagged,
    ],
  ),
  ...["AssociateRouteTable", "AttachInternetGateway", "CreateLaunchTemplateVersion", "CreateRoute"].map(
    (action): Twin => [
      `call ${action} on what has no tag of the fleet`,
      asks(`ec2:${action}`, "*", changing),
      untagged,
    ],
  ),
  ...[
    ["CreateFlowLogs", "vpc"],
    ["CreateSubnet", "vpc"],
    ["CreateTransitGatewayVpcAttachment", "vpc"],
    ["CreateTransitGatewayVpcAttachment", "subnet"],
    ["CreateNatGateway", "subnet"],
    ["CreateRouteTable", "vpc"],
  ].map(
    ([action, kind = ""]): Twin => [
      `call ${action} in a ${kind} without the fleet's tag, whatever tag it brings`,
      asks(`ec2:${action}`, ec2(kind), { ...region, ...withTag, ...ofFleet }),
      { context: making },
    ],
  ),
  [
    "attach a VPC to a transit gateway of its account whose owner doesn't permit it by the tag of shared networks",
    asks(attach, ec2("transit-gateway"), { ...region, ...sharedWith("fleet") }),
    untagged,
  ],
  twin(
    "attach a VPC to a transit gateway of its account that is shared with another fleet",
    asks(attach, ec2("transit-gateway"), { ...region, ...sharedWith("fleet") }),
    { context: { ...region, ...sharedWith("other") } },
  ),
  twin(
    "accept an attachment, although it may attach to a transit gateway of another account, whose tags are unknown",
    asks(attach, "arn:aws:ec2:us-east-1:999999999999:transit-gateway/x", region),
    { action: "ec2:AcceptTransitGatewayVpcAttachment" },
  ),
  twin(
    "start instances from a launch template without the fleet's tag",
    asks("ec2:RunInstances", ec2("launch-template"), changing),
    { context: { ...region, "ec2:LaunchTemplate": ec2("launch-template") } },
  ),
  [
    "start instances without a launch template",
    asks("ec2:RunInstances", ec2("instance"), { ...region, "ec2:LaunchTemplate": ec2("launch-template") }),
    untagged,
  ],
  twin(
    "ask for a grant of its own, while EKS asks for one in its name",
    asks("kms:CreateGrant", key, { ...ofFleet, "kms:GrantIsForAWSResource": "true" }),
    { context: { ...ofFleet, "kms:GrantIsForAWSResource": "false" } },
  ),
  twin(
    "give a key of others to EKS",
    asks("kms:CreateGrant", key, { ...ofFleet, "kms:GrantIsForAWSResource": "true" }),
    { context: { "kms:GrantIsForAWSResource": "true" } },
  ),
  twin("schedule the deletion of a key of the hub", asks("kms:ScheduleKeyDeletion", key, ofFleet), {
    context: { "aws:ResourceTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/cluster": "hub" },
  }),
  twin("give a key of the hub another alias", asks("kms:CreateAlias", key, ofFleet), {
    context: { "aws:ResourceTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/cluster": "hub" },
  }),
  twin(
    "take an alias of the hub",
    asks("kms:DeleteAlias", "arn:aws:kms:us-east-1:000000000000:alias/fleet-spoke-blue"),
    { resource: "arn:aws:kms:us-east-1:000000000000:alias/fleet-secrets" },
  ),
  twin(
    "read roles other than its own and service-linked ones",
    asks("iam:GetRole", role("aws-service-role/eks-nodegroup.amazonaws.com/AWSServiceRoleForAmazonEKSNodegroup")),
    { resource: role("admin") },
  ),
  twin("take a key of another fleet into this one", asks("kms:TagResource", key, withTag), {
    context: { "aws:RequestTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/fleet": "other" },
  }),
  twin("make a key without the fleet's tag", asks("kms:CreateKey", "*", withTag), { context: {} }),
];

describe("Crossplane's role", () => {
  it.each(twins)("can not %s, while the allowed twin passes", (_name, twin, difference) => {
    expect(allowed(crossplane, twin)).toBe(true);
    expect(allowed(crossplane, { ...twin, ...difference })).toBe(false);
  });

  it.each(["iam:CreatePolicyVersion", "iam:DeletePolicy", "iam:SetDefaultPolicyVersion"])(
    "can not %s on the boundary policies",
    (action) => {
      expect(allowed(crossplane, asks(action, boundaryArn))).toBe(false);
      expect(allowed(crossplane, asks(action, tenantBoundaryArn))).toBe(false);
    },
  );

  it("opens the private endpoints of spokes, and no other security group", () => {
    const group = { resource: "arn:aws:ec2:us-east-1:000000000000:security-group/sg-1" };
    const may = (action: string, context: Record<string, string>) =>
      allowed(crossplane, { ...group, action: `ec2:${action}`, context: { ...region, ...context } });
    for (const action of ["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress"]) {
      expect(may(action, { "aws:ResourceTag/aws:eks:cluster-name": "fleet-spoke-blue" })).toBe(true);
      expect(may(action, { "aws:ResourceTag/aws:eks:cluster-name": "fleet-hub" })).toBe(false);
      expect(may(action, ofFleet)).toBe(action === "RevokeSecurityGroupIngress");
      expect(may(action, {})).toBe(false);
    }
    const rule = asks("ec2:AuthorizeSecurityGroupIngress", "arn:aws:ec2:us-east-1:000000000000:security-group-rule/*");
    expect(
      allowed(crossplane, { ...rule, context: { ...region, "aws:RequestTag/fleet.internal/fleet": "fleet" } }),
    ).toBe(true);
    expect(
      allowed(crossplane, { ...rule, context: { ...region, "aws:RequestTag/fleet.internal/fleet": "other" } }),
    ).toBe(false);
  });

  it("tags a security group that has no tag of a fleet or of EKS, then removes its rules, and adds none", () => {
    const group = { resource: "arn:aws:ec2:us-east-1:000000000000:security-group/sg-1" };
    const may = (action: string, context: Record<string, string>) =>
      allowed(crossplane, { ...group, action: `ec2:${action}`, context: { ...region, ...context } });
    const asked = withTag;
    expect(may("CreateTags", asked)).toBe(true);
    expect(may("CreateTags", {})).toBe(false);
    expect(may("CreateTags", { "aws:RequestTag/fleet.internal/fleet": "other" })).toBe(false);
    expect(may("CreateTags", { ...asked, "aws:ResourceTag/fleet.internal/fleet": "other" })).toBe(false);
    expect(may("CreateTags", { ...asked, "aws:ResourceTag/aws:eks:cluster-name": "shop" })).toBe(false);
    for (const action of ["RevokeSecurityGroupIngress", "RevokeSecurityGroupEgress"]) {
      expect(may(action, ofFleet), action).toBe(true);
      expect(may(action, { ...ofFleet, "aws:ResourceTag/fleet.internal/cluster": "hub" }), action).toBe(false);
      expect(may(action, {}), action).toBe(false);
    }
    for (const action of ["AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress"])
      expect(may(action, ofFleet), action).toBe(false);
  });

  it.each(["DeleteNetworkInterface", "DeleteSecurityGroup", "TerminateInstances"])("never calls %s", (call) => {
    const context = changing;
    expect(allowed(crossplane, asks(`ec2:${call}`, "*", context))).toBe(false);
  });

  it("names its resources right after their creation, when the tags of a key may not count yet", () => {
    for (const action of ["kms:DescribeKey", "kms:EnableKeyRotation", "kms:GetKeyPolicy", "kms:ListResourceTags"])
      expect(allowed(crossplane, asks(action, key)), action).toBe(true);
    expect(allowed(crossplane, asks("iam:GetOpenIDConnectProvider", provider("SPOKE")))).toBe(true);
  });

  it.each(["secretsmanager:GetSecretValue", "iam:CreateUser", "iam:CreateAccessKey", "sts:AssumeRole", "s3:GetObject"])(
    "can not %s",
    (action) => expect(allowed(crossplane, asks(action, "*"))).toBe(false),
  );
});

describe("the boundary of the fleet's roles", () => {
  const boundary = spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn });
  const secret = (name: string) => `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}-AbCdEf`;
  const as = (identity: string, cluster = "fleet-spoke-blue") => ({
    ...region,
    "aws:PrincipalTag/eks-cluster-name": cluster,
    "aws:PrincipalTag/fleet.internal/identity": identity,
  });
  const own = { "aws:ResourceTag/eks-cluster-name": "fleet-spoke-blue" };
  const databaseRole = { "aws:PrincipalTag/rds-digest": databaseDigest("fleet-spoke-blue") };

  it("lets External Secrets read sealing keys, Git credentials of spokes and no other secret, and no other role any", () => {
    const read = (name: string, identity = "external-secrets") =>
      allowed(boundary, asks("secretsmanager:GetSecretValue", secret(name), as(identity)));
    expect(read("fleet/git/spokes/blue")).toBe(true);
    expect(read("fleet/sealing-keys/dev/1")).toBe(true);
    expect(read("fleet/sealing-keys/cluster-blue/1")).toBe(true);
    expect(read("fleet/git/gitops-system")).toBe(false);
    for (const identity of ["node", "cluster", "crossplane", "aws-ebs-csi-driver"])
      expect(read("fleet/sealing-keys/dev/1", identity), identity).toBe(false);
  });

  it("lets the agent of EKS Pod Identity ask for roles on its own cluster only", () => {
    const forPods = (cluster: string) =>
      allowed(
        boundary,
        asks("eks-auth:AssumeRoleForPodIdentity", `arn:aws:eks:us-east-1:000000000000:cluster/${cluster}`, as("node")),
      );
    expect(["fleet-spoke-blue", "fleet-spoke-green", "fleet-hub", "shop"].map(forPods)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it.each(["iam:CreateRole", "iam:PutRolePolicy", "iam:PassRole", "iam:CreateUser"])("never allows %s", (action) => {
    expect(allowed(boundary, asks(action, "*", as("crossplane")))).toBe(false);
  });

  it.each(["iam:PutRolePermissionsBoundary", "iam:DeleteRolePermissionsBoundary", "iam:PassRole"])(
    "never allows %s on roles of applications",
    (action) => {
      const resource = role("fleet-spoke-blue_payment");
      expect(allowed(boundary, asks("iam:DeleteRole", resource, as("crossplane")))).toBe(true);
      const context = { ...as("crossplane"), "iam:PermissionsBoundary": tenantBoundaryArn };
      expect(allowed(boundary, asks(action, resource, context))).toBe(false);
    },
  );

  it("lets a spoke's Crossplane make roles for its own applications, with the tenants' boundary only", () => {
    const twin = asks("iam:CreateRole", role("fleet-spoke-blue_payment"), {
      ...as("crossplane"),
      "iam:PermissionsBoundary": tenantBoundaryArn,
    });
    expect(allowed(boundary, twin)).toBe(true);
    expect(allowed(boundary, { ...twin, context: { ...twin.context, "iam:PermissionsBoundary": boundaryArn } })).toBe(
      false,
    );
    expect(allowed(boundary, { ...twin, resource: spokeRole })).toBe(false);
    expect(allowed(boundary, { ...twin, resource: role("fleet-spoke-green_payment") })).toBe(false);
  });

  it("leaves a spoke's Crossplane all that its policy gives it", () => {
    const cluster = "fleet-spoke-blue";
    const given = spokeCrossplanePolicy({
      ...{ ...account, cluster, tenantBoundaryArn, buckets: true },
      databases: { prefix: databasesOf(cluster), removal: false },
    });
    const asked = given.Statement.filter(({ Effect }) => Effect === "Allow").flatMap(({ Action = [], Resource = [] }) =>
      Action.flatMap((action) =>
        Resource.map((resource) => asks(action, resource.replaceAll("*", "x").replace("?g:", "pg:"))),
      ),
    );
    const context = {
      ...as("crossplane"),
      ...databaseRole,
      "iam:PermissionsBoundary": tenantBoundaryArn,
      "iam:AWSServiceName": "rds.amazonaws.com",
      "kms:ViaService": "rds.us-east-1.amazonaws.com",
      "kms:ResourceAliases": "alias/aws/rds",
    };
    const lost = asked.filter((request) => !allowed(boundary, { ...request, context }));
    expect(lost).toEqual([]);
    expect(asked.length).toBeGreaterThan(30);
  });

  it("ends at databases of its own applications, by a tag that the roles of no other identity have", () => {
    const own = databasesOf("fleet-spoke-blue");
    const call = (action: string, name: string, context: Record<string, string> = databaseRole) =>
      allowed(
        boundary,
        asks(`rds:${action}`, `arn:aws:rds:us-east-1:000000000000:${name}`, { ...as("crossplane"), ...context }),
      );
    for (const action of ["CreateDBInstance", "ModifyDBInstance", "DeleteDBInstance", "AddTagsToResource"]) {
      expect(call(action, `db:${own}-payment-orders`), action).toBe(true);
      expect(call(action, `db:${own}-payment-orders`, {}), action).toBe(false);
      for (const other of ["fleet-spoke-green", "fleet-spoke-blue-2", "other-spoke-blue"])
        expect(call(action, `db:${databasesOf(other)}-payment-orders`), `${action} ${other}`).toBe(false);
      expect(call(action, "db:shop"), action).toBe(false);
      expect(call(action, `db:${own}`), action).toBe(false);
    }
    // The digest of the fleet stands in the policy, so no tag leads out of it.
    const other = { "aws:PrincipalTag/rds-digest": databaseDigest("other-spoke-blue") };
    expect(call("DeleteDBInstance", `db:${databasesOf("other-spoke-blue")}-payment-orders`, other)).toBe(false);
    expect(call("CreateDBInstance", "pg:default.postgres17")).toBe(true);
    expect(call("CreateDBInstance", "pg:shop")).toBe(false);
    for (const action of ["CopyDBSnapshot", "ModifyDBSnapshotAttribute", "RestoreDBInstanceFromDBSnapshot"])
      expect(call(action, `snapshot:${own}-payment-orders`), action).toBe(false);
  });

  it("uses the account's key for databases through RDS alone", () => {
    const grant = (context: Record<string, string>) =>
      allowed(boundary, asks("kms:CreateGrant", key, { ...as("crossplane"), ...context }));
    const through = { "kms:ViaService": "rds.us-east-1.amazonaws.com", "kms:ResourceAliases": "alias/aws/rds" };
    expect(grant(through)).toBe(true);
    expect(grant({ ...through, "kms:ResourceAliases": "alias/fleet-secrets" })).toBe(false);
    expect(grant({ ...through, "kms:ViaService": "secretsmanager.us-east-1.amazonaws.com" })).toBe(false);
    expect(grant({ "kms:ResourceAliases": "alias/aws/rds" })).toBe(false);
  });

  it.each([
    ["ec2:*eSnapshot", ["ec2:CreateSnapshot", "ec2:DeleteSnapshot"]],
    // Descriptions have no tags of resources, for which the statement asks.
    ["ec2:*eTags", ["ec2:CreateTags", "ec2:DeleteTags", "ec2:DescribeTags"]],
    ["ec2:*eSecurityGroup", ["ec2:CreateSecurityGroup", "ec2:DeleteSecurityGroup"]],
    ["ec2:*PrivateIp*", ["ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"]],
    ["ec2:*tachVolume", ["ec2:AttachVolume", "ec2:DetachVolume"]],
    ["ec2:CreateSecu*", ["ec2:CreateSecurityGroup"]],
    ["ec2:ModifyNet*", ["ec2:ModifyNetworkInterfaceAttribute"]],
    ["ecr:GetDown*", ["ecr:GetDownloadUrlForLayer"]],
    ["dynamodb:UpdateConti*", ["dynamodb:UpdateContinuousBackups"]],
    ["dynamodb:UpdateTi*", ["dynamodb:UpdateTimeToLive"]],
    ["ecr:BatchC*", ["ecr:BatchCheckLayerAvailability"]],
    ["ecr:BatchImport*", ["ecr:BatchImportUpstreamImage"]],
    ["ecr:GetAuth*", ["ecr:GetAuthorizationToken"]],
    ["ssm:UpdateInstanceI*", ["ssm:UpdateInstanceInformation"]],
    [
      "ssmmessages:*",
      ["CreateControlChannel", "CreateDataChannel", "OpenControlChannel", "OpenDataChannel"].map(
        (call) => `ssmmessages:${call}`,
      ),
    ],
    ["rds:*DBSubnetGroup*", ["Create", "Delete", "Describe", "Modify"].map((verb) => `rds:${verb}DBSubnetGroup`)],
    ["rds:*Tags*", ["rds:AddTagsToResource", "rds:ListTagsForResource", "rds:RemoveTagsFromResource"]],
  ])("says %s for want of room, and AWS has no other call that it matches", async (pattern, calls) => {
    expect(boundary.Statement.flatMap(({ Action = [] }) => Action)).toContain(pattern);
    const found = await actionsOf(pattern);
    expect(found.map((name) => name.replace(/DBSubnetGroups$/, "DBSubnetGroup"))).toEqual(calls);
  });

  it("ends at buckets of its own applications, with nothing of what is in them or lets others in", () => {
    const call = (action: string, name: string, cluster?: string) =>
      allowed(boundary, asks(action, `arn:aws:s3:::${name}`, as("crossplane", cluster)));
    const own = "fleet-spoke-blue--payment--files-000000000000";
    for (const action of ["s3:CreateBucket", "s3:GetBucketAcl", "s3:GetEncryptionConfiguration", "s3:UntagResource"]) {
      expect(call(action, own), action).toBe(true);
      expect(call(action, own, "fleet-spoke-green"), action).toBe(false);
      expect(call(action, "fleet-spoke-blue-2--payment--files-000000000000"), action).toBe(false);
      expect(call(action, "fleet-spoke-blue"), action).toBe(false);
    }
    for (const action of ["s3:GetObject", "s3:PutObject", "s3:DeleteObjectVersion", "s3:GetObjectRetention"])
      expect(call(action, `${own}/x`), action).toBe(false);
    for (const action of ["s3:PutBucketPolicy", "s3:PutBucketLogging", "s3:PutBucketPublicAccessBlock"])
      expect(call(action, own), action).toBe(false);
    expect(allowed(boundary, asks("s3:CreateBucket", `arn:aws:s3:::${own}`, as("node")))).toBe(false);
  });

  // AWS Managed Policy Reference: AmazonEKS_CNI_Policy, AmazonEBSCSIDriverPolicy and AmazonEKSWorkerNodePolicy.
  it.each([
    ["node", "ec2:AssignPrivateIpAddresses", "network-interface"],
    ["node", "ec2:AttachNetworkInterface", "instance"],
    ["node", "ec2:CreateNetworkInterface", "subnet"],
    ["node", "ec2:CreateTags", "network-interface"],
    ["node", "ec2:DeleteNetworkInterface", "network-interface"],
    ["node", "ec2:DetachNetworkInterface", "network-interface"],
    ["node", "ec2:ModifyNetworkInterfaceAttribute", "network-interface"],
    ["node", "ec2:UnassignPrivateIpAddresses", "network-interface"],
    ["aws-ebs-csi-driver", "ec2:AttachVolume", "instance"],
    ["aws-ebs-csi-driver", "ec2:AttachVolume", "volume"],
    ["aws-ebs-csi-driver", "ec2:CreateSnapshot", "volume"],
    ["aws-ebs-csi-driver", "ec2:CreateVolume", "snapshot"],
    ["aws-ebs-csi-driver", "ec2:DeleteSnapshot", "snapshot"],
    ["aws-ebs-csi-driver", "ec2:DeleteTags", "volume"],
    ["aws-ebs-csi-driver", "ec2:DeleteVolume", "volume"],
    ["aws-ebs-csi-driver", "ec2:DetachVolume", "volume"],
    ["aws-ebs-csi-driver", "ec2:ModifyVolume", "volume"],
    ["cluster", "ec2:DeleteNetworkInterface", "network-interface"],
  ])("lets %s call %s on a %s of its own cluster, and of no other", (identity, action, kind) => {
    const request = asks(action, ec2(kind));
    const call = (context: Record<string, string>, cluster?: string) =>
      allowed(boundary, { ...request, context: { ...as(identity, cluster), ...context } });
    expect(call(own)).toBe(true);
    expect(call(own, "fleet-spoke-green")).toBe(false);
    expect(call({})).toBe(false);
    expect(call({ "aws:ResourceTag/eks-cluster-name": "fleet-hub" }, "fleet-hub")).toBe(false);
  });

  it("lets the volume driver attach volumes to nodes that EKS tagged with its own cluster, as those of Cluster API", () => {
    const attach = (action: string, cluster: string) =>
      allowed(
        boundary,
        asks(action, ec2("instance"), { ...as("aws-ebs-csi-driver"), "aws:ResourceTag/eks:cluster-name": cluster }),
      );
    for (const action of ["ec2:AttachVolume", "ec2:DetachVolume"]) {
      expect(attach(action, "fleet-spoke-blue"), action).toBe(true);
      expect(attach(action, "fleet-spoke-green"), action).toBe(false);
    }
    expect(attach("ec2:TerminateInstances", "fleet-spoke-blue")).toBe(false);
  });

  it.each([
    ["ec2:CreateNetworkInterface", "network-interface"],
    ["ec2:CreateVolume", "volume"],
    ["ec2:CreateSnapshot", "snapshot"],
  ])("lets %s make what carries its own cluster's tag, and no other", (action, kind) => {
    const make = (cluster: string) =>
      allowed(boundary, asks(action, ec2(kind), { ...as("node"), "aws:RequestTag/eks-cluster-name": cluster }));
    expect(make("fleet-spoke-blue")).toBe(true);
    expect(make("fleet-spoke-green")).toBe(false);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ["the group that EKS made for their cluster", { "aws:eks:cluster-name": "fleet-spoke-blue" }, true],
    ["a group with the tag of their cluster", { "eks-cluster-name": "fleet-spoke-blue" }, true],
    ["the group that EKS made for another cluster", { "aws:eks:cluster-name": "fleet-spoke-green" }, false],
    ["a group with another cluster's tag", { "eks-cluster-name": "fleet-spoke-green" }, false],
    [
      "the group of another cluster's load balancers",
      { "elbv2.k8s.aws/cluster": "fleet-spoke-green", "elbv2.k8s.aws/resource": "backend-sg" },
      false,
    ],
    ["a group of others", {}, false],
  ])("has nodes join %s: %s", (_what, tags, expected) => {
    const resourceTags = Object.fromEntries(
      Object.entries(tags).map(([key, value]) => [`aws:ResourceTag/${key}`, value]),
    );
    for (const call of ["CreateNetworkInterface", "ModifyNetworkInterfaceAttribute"])
      expect(
        allowed(boundary, asks(`ec2:${call}`, ec2("security-group"), { ...as("node"), ...resourceTags })),
        call,
      ).toBe(expected);
  });

  it("lets what nodes read be read, in the region", () => {
    for (const action of ["ec2:DescribeInstances", "ecr:GetAuthorizationToken", "ecr:BatchGetImage"]) {
      expect(allowed(boundary, asks(action, "*", as("node"))), action).toBe(true);
      const elsewhere = { ...as("node"), "aws:RequestedRegion": "eu-west-1" };
      expect(allowed(boundary, asks(action, "*", elsewhere)), action).toBe(false);
    }
  });

  it("uses the default key of volumes through EC2, and no key by itself", () => {
    const volumeKey = { "kms:ViaService": "ec2.us-east-1.amazonaws.com", "kms:ResourceAliases": "alias/aws/ebs" };
    const decrypt = (context: Record<string, string>) =>
      allowed(boundary, asks("kms:Decrypt", key, { ...as("aws-ebs-csi-driver"), ...context }));
    expect(decrypt(volumeKey)).toBe(true);
    expect(decrypt({ ...volumeKey, "kms:ResourceAliases": "alias/fleet-secrets" })).toBe(false);
    expect(decrypt({ "kms:ResourceAliases": "alias/aws/ebs" })).toBe(false);
  });

  it("lets a control plane make load balancers, and change none of the hub's", () => {
    const group = asks("ec2:AuthorizeSecurityGroupIngress", ec2("security-group"));
    const change = (identity: string, context: Record<string, string>) =>
      allowed(boundary, { ...group, context: { ...as(identity), ...context } });
    expect(change("cluster", { "aws:ResourceTag/kubernetes.io/cluster/fleet-spoke-blue": "owned" })).toBe(true);
    expect(change("cluster", { "aws:ResourceTag/kubernetes.io/cluster/fleet-hub": "owned" })).toBe(false);
    for (const other of ["fleet-hub", "fleet-spoke-green", "shop"])
      expect(change("cluster", { "aws:ResourceTag/aws:eks:cluster-name": other }), other).toBe(false);
    expect(change("cluster", { "aws:ResourceTag/aws:eks:cluster-name": "fleet-spoke-blue" })).toBe(true);
    expect(change("cluster", { "aws:ResourceTag/fleet.internal/cluster": "hub" })).toBe(false);
    expect(change("node", {})).toBe(false);
  });

  it("lets nobody do anything without a cluster of the fleet in the role's tags", () => {
    const describeInstances = asks("ec2:DescribeInstances", "*");
    expect(allowed(boundary, { ...describeInstances, context: as("node") })).toBe(true);
    expect(allowed(boundary, { ...describeInstances, context: region })).toBe(false);
    expect(allowed(boundary, { ...describeInstances, context: as("node", "fleet-hub") })).toBe(false);
  });
});

describe("a spoke's own Crossplane", () => {
  const scope = { ...account, cluster: "fleet-spoke-blue", tenantBoundaryArn };
  const databases = databasesOf("fleet-spoke-blue");
  const policy = spokeCrossplanePolicy({ ...scope, buckets: true, databases: { prefix: databases, removal: false } });
  const database = (cluster: string) =>
    `arn:aws:rds:us-east-1:000000000000:db:${databaseName(databasesOf(cluster), "payment", "orders")}`;
  const bucket = (cluster: string) => `arn:aws:s3:::${cluster}--payment--files-000000000000`;
  const context = { "s3:ResourceAccount": account.accountId };
  const table = (name: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
  const queue = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

  it.each([
    ["dynamodb:CreateTable", table("fleet-spoke-blue_payments"), table("fleet-spoke-blue-2_payments")],
    ["sqs:CreateQueue", queue("fleet-spoke-blue_payments"), queue("fleet-spoke-red_payments")],
    ["s3:CreateBucket", bucket("fleet-spoke-blue"), bucket("fleet-spoke-blue-2")],
    ["s3:GetBucketWebsite", bucket("fleet-spoke-blue"), bucket("fleet-spoke-red")],
    ["rds:CreateDBInstance", database("fleet-spoke-blue"), database("fleet-spoke-blue-2")],
    ["rds:DeleteDBInstance", database("fleet-spoke-blue"), database("fleet-spoke-red")],
    ["iam:DeleteRole", role("fleet-spoke-blue_payment"), role("fleet-spoke-blue-node")],
  ])("may %s under its own name, not under another spoke's", (action, own, other) => {
    expect(allowed(policy, asks(action, own, context))).toBe(true);
    expect(allowed(policy, asks(action, other, context))).toBe(false);
  });

  it("makes buckets where the Spoke has the add-on for them, in its own account, and neither reads nor shares one", () => {
    const create = asks("s3:CreateBucket", bucket("fleet-spoke-blue"), context);
    expect(allowed(policy, create)).toBe(true);
    expect(allowed(spokeCrossplanePolicy({ ...scope, buckets: false, databases: undefined }), create)).toBe(false);
    expect(allowed(policy, { ...create, context: { "s3:ResourceAccount": "999999999999" } })).toBe(false);
    for (const action of ["s3:PutBucketPolicy", "s3:PutBucketAcl", "s3:PutBucketPublicAccessBlock"])
      expect(allowed(policy, { ...create, action }), action).toBe(false);
    for (const action of ["s3:GetObject", "s3:DeleteObject"])
      expect(allowed(policy, { ...create, action, resource: `${create.resource}/x` }), action).toBe(false);
  });

  it("makes databases where the Spoke has the add-on for them, in the group of the spoke's subnets, and shares or restores none", () => {
    const create = asks("rds:CreateDBInstance", database("fleet-spoke-blue"));
    expect(allowed(policy, create)).toBe(true);
    expect(allowed(spokeCrossplanePolicy({ ...scope, buckets: true, databases: undefined }), create)).toBe(false);
    // What is left when the add-on is turned off again.
    const left = spokeCrossplanePolicy({ ...scope, buckets: true, databases: { prefix: databases, removal: true } });
    const group = `arn:aws:rds:us-east-1:000000000000:subgrp:${databaseSubnets(databases)}`;
    expect(allowed(left, create)).toBe(false);
    expect(allowed(left, asks("rds:CreateDBSubnetGroup", group))).toBe(false);
    expect(allowed(left, asks("rds:DeleteDBSubnetGroup", group))).toBe(true);
    const inGroup = (name: string) =>
      allowed(policy, { ...create, resource: `arn:aws:rds:us-east-1:000000000000:subgrp:${name}` });
    expect(inGroup(databaseSubnets(databases))).toBe(true);
    expect(inGroup(databaseSubnets(databasesOf("fleet-spoke-red")))).toBe(false);
    expect(inGroup("default")).toBe(false);
    for (const action of ["ModifyDBSnapshotAttribute", "RestoreDBInstanceFromDBSnapshot", "CopyDBSnapshot"])
      for (const kind of ["db", "snapshot"])
        expect(allowed(policy, asks(`rds:${action}`, create.resource.replace(":db:", `:${kind}:`))), action).toBe(
          false,
        );
  });

  it("makes roles with the tenants' boundary only, and reads no table", () => {
    const twin = asks("iam:CreateRole", role("fleet-spoke-blue_payment"));
    expect(allowed(policy, { ...twin, context: { "iam:PermissionsBoundary": tenantBoundaryArn } })).toBe(true);
    expect(allowed(policy, twin)).toBe(false);
    expect(allowed(policy, asks("dynamodb:GetItem", table("fleet-spoke-blue_payments")))).toBe(false);
    expect(allowed(policy, asks("iam:DeleteRolePermissionsBoundary", twin.resource))).toBe(false);
  });
});

describe("the boundary of applications", () => {
  const boundary = tenantBoundary(account);
  const table = (name: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
  const get = (name: string, roleName: string, tags: Record<string, string>) =>
    allowed(boundary, asks("dynamodb:GetItem", table(name), { "aws:PrincipalArn": role(roleName), ...tags }));
  const as = (cluster: string, namespace: string) => ({
    "aws:PrincipalTag/eks-cluster-name": cluster,
    "aws:PrincipalTag/kubernetes-namespace": namespace,
  });
  const payment = as("fleet-spoke-blue", "payment");

  it("ends at the tables and queues of the role's own cluster and namespace", () => {
    for (const name of ["fleet-spoke-blue_payment", "fleet-spoke-blue_payment_reader"]) {
      expect(get("fleet-spoke-blue_payment_orders", name, payment), name).toBe(true);
      expect(get("fleet-spoke-blue_billing_orders", name, payment), name).toBe(false);
      expect(get("fleet-spoke-green_payment_orders", name, payment), name).toBe(false);
    }
    const receive = {
      action: "sqs:ReceiveMessage",
      context: { "aws:PrincipalArn": role("fleet-spoke-blue_payment"), ...payment },
    };
    const queue = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
    expect(allowed(boundary, { ...receive, resource: queue("fleet-spoke-blue_payment_events") })).toBe(true);
    expect(allowed(boundary, { ...receive, resource: queue("fleet-spoke-blue_billing_events") })).toBe(false);
  });

  it("knows a role by its name, not by a path that begins like another application's role", () => {
    const shop = as("fleet-spoke-blue", "shop");
    expect(get("fleet-spoke-blue_shop_orders", "fleet-spoke-blue_shop", shop)).toBe(true);
    for (const path of ["fleet-spoke-blue_payment_x", "fleet-spoke-blue_payment_x/y"])
      expect(get("fleet-spoke-blue_payment_orders", `${path}/fleet-spoke-blue_shop`, payment), path).toBe(false);
  });

  it("ends at the buckets of the role's own cluster and namespace, in the account, and at what their objects were before", () => {
    const call = (action: string, resource: string, more: Record<string, string> = {}) =>
      allowed(
        boundary,
        asks(action, `arn:aws:s3:::${resource}`, {
          "aws:PrincipalArn": role("fleet-spoke-blue_payment"),
          "s3:ResourceAccount": account.accountId,
          ...payment,
          ...more,
        }),
      );
    const own = "fleet-spoke-blue--payment--files-000000000000";
    expect(call("s3:ListBucket", own)).toBe(true);
    for (const action of ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]) {
      expect(call(action, `${own}/2026/x`), action).toBe(true);
      expect(call(action, `${own}/2026/x`, { "s3:ResourceAccount": "999999999999" }), action).toBe(false);
      expect(call(action, `${own}/2026/x`, { "aws:PrincipalArn": role("fleet-spoke-blue_pay") }), action).toBe(false);
      for (const other of ["blue--billing", "blue--payment-eu", "green--payment", "blue-2--payment"])
        expect(call(action, `fleet-spoke-${other}--files-000000000000/x`), `${action} ${other}`).toBe(false);
    }
    for (const action of ["s3:DeleteObjectVersion", "s3:GetObjectVersion", "s3:PutObjectAcl"])
      expect(call(action, `${own}/2026/x`), action).toBe(false);
    for (const action of ["s3:DeleteBucket", "s3:PutBucketPolicy", "s3:PutBucketVersioning"])
      expect(call(action, own), action).toBe(false);
  });

  it.each([
    ["another spoke", as("fleet-spoke-green", "payment"), "fleet-spoke-green_payment_orders"],
    ["another application", as("fleet-spoke-blue", "billing"), "fleet-spoke-blue_billing_orders"],
    ["all of the spoke", as("fleet-spoke-blue", ""), "fleet-spoke-blue__orders"],
    ["a part of a name", as("fleet-spoke-blue", "pay"), "fleet-spoke-blue_pay_orders"],
  ])("gives nothing to a role or session whose tags name %s", (_whose, tags, name) => {
    expect(get(name, "fleet-spoke-blue_payment", tags)).toBe(false);
    expect(get("fleet-spoke-blue_payment_orders", "fleet-spoke-blue_payment", tags)).toBe(false);
  });

  it("gives nothing to a role without the tags", () => {
    expect(get("fleet-spoke-blue_payment_orders", "fleet-spoke-blue_payment", {})).toBe(false);
  });

  it.each([
    ...["dynamodb:PutResourcePolicy", "dynamodb:DeleteTable", "sqs:AddPermission"],
    ...["sqs:SetQueueAttributes", "iam:CreateRole"],
  ])("never allows %s", (action) => {
    for (const resource of [
      table("fleet-spoke-blue_payment_orders"),
      "arn:aws:sqs:us-east-1:000000000000:fleet-spoke-blue_payment_events",
      "*",
    ])
      expect(
        allowed(boundary, asks(action, resource, { "aws:PrincipalArn": role("fleet-spoke-blue_payment"), ...payment })),
      ).toBe(false);
  });
});

describe("workload roles", () => {
  const secretArn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:fleet/git/gitops-system-AbCdEf";
  const keyArn = key;
  const reader = secretReaderPolicy({
    secretArns: [secretArn],
    keyArn,
    region: "us-east-1",
    dnsSuffix: "amazonaws.com",
  });

  it("External Secrets reads exactly its secrets, and uses the key through Secrets Manager only", () => {
    expect(allowed(reader, asks("secretsmanager:GetSecretValue", secretArn))).toBe(true);
    expect(allowed(reader, asks("secretsmanager:GetSecretValue", secretArn.replace("system", "workloads")))).toBe(
      false,
    );
    expect(allowed(reader, asks("secretsmanager:PutSecretValue", secretArn))).toBe(false);
    const viaService = { "kms:ViaService": "secretsmanager.us-east-1.amazonaws.com" };
    expect(allowed(reader, asks("kms:Decrypt", keyArn, viaService))).toBe(true);
    expect(allowed(reader, asks("kms:Decrypt", keyArn))).toBe(false);
  });

  it("Flux looks up spokes, not the hub", () => {
    const viewer = spokeViewerPolicy(account, "fleet-spoke-");
    expect(
      allowed(viewer, asks("eks:DescribeCluster", "arn:aws:eks:us-east-1:000000000000:cluster/fleet-spoke-a")),
    ).toBe(true);
    expect(allowed(viewer, asks("eks:DescribeCluster", "arn:aws:eks:us-east-1:000000000000:cluster/fleet-hub"))).toBe(
      false,
    );
  });
});
