import { describe, expect, it } from "vitest";
import { deployerPolicies } from "../../../lib/iam/deployer.ts";
import { expectGolden } from "../../support/golden.ts";
import { allowed, asks, type Twin, twin } from "../../support/iam.ts";

const scope = {
  fleet: "fleet",
  partition: "aws",
  dnsSuffix: "amazonaws.com",
  accountId: "000000000000",
  region: "us-east-1",
};
const arn = (service: string, resource: string) =>
  `arn:aws:${service}:${service === "iam" ? "" : "us-east-1"}:000000000000:${resource}`;
const secretsKeyArn = arn("kms", "key/secrets");
const policies = Object.values(deployerPolicies({ ...scope, grafana: "AWS_SSO", secretsKeyArn }));
const region = { "aws:RequestedRegion": "us-east-1" };
const withTag = { "aws:RequestTag/fleet.internal/fleet": "fleet" };
const making = { ...region, ...withTag };
const oidcProvider = arn("iam", "oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/1");
const grafanaWorkspace = arn("grafana", "/workspaces/g-1");
const ofFleet = { "aws:ResourceTag/fleet.internal/fleet": "fleet" };
const ofOther = { "aws:ResourceTag/fleet.internal/fleet": "other" };
const changing = { ...region, ...ofFleet };
/** A role of the hub given to pods by EKS Pod Identity. */
const passedToPods = (identity: string) =>
  asks("iam:PassRole", arn("iam", `role/fleet-hub-${identity}`), { "iam:PassedToService": "pods.eks.amazonaws.com" });

const twins: Twin[] = [
  twin("touch a role of somebody else", asks("iam:PutRolePolicy", arn("iam", "role/fleet-hub-crossplane-iam")), {
    resource: arn("iam", "role/other"),
  }),
  twin(
    "attach a policy of its choice",
    asks("iam:AttachRolePolicy", arn("iam", "role/fleet-hub-node"), {
      "iam:PolicyARN": "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
    }),
    { context: { "iam:PolicyARN": "arn:aws:iam::aws:policy/AdministratorAccess" } },
  ),
  twin(
    "attach one of Crossplane's policies, which it writes itself, to another role",
    asks("iam:AttachRolePolicy", arn("iam", "role/fleet-hub-crossplane"), {
      "iam:PolicyARN": arn("iam", "policy/fleet-hub-crossplane-roles"),
    }),
    { resource: arn("iam", "role/fleet-hub-node") },
  ),
  twin(
    "pass a controller's role",
    asks("iam:PassRole", arn("iam", "role/fleet-hub-node"), { "iam:PassedToService": "ec2.amazonaws.com" }),
    { resource: arn("iam", "role/fleet-hub-crossplane-iam") },
  ),
  twin("give pods of the hub a role of its nodes", passedToPods("kustomize-controller"), {
    resource: arn("iam", "role/fleet-hub-node"),
  }),
  twin("give pods the role of External Secrets, which no pod has", passedToPods("crossplane-iam"), {
    resource: arn("iam", "role/fleet-hub-external-secrets"),
  }),
  twin("pass the role of pods to another service", passedToPods("crossplane-iam"), {
    context: { "iam:PassedToService": "lambda.amazonaws.com" },
  }),
  ...["CreatePodIdentityAssociation", "DeletePodIdentityAssociation"].map((call): Twin => {
    const on = (cluster: string) =>
      arn("eks", call.startsWith("Create") ? `cluster/${cluster}` : `podidentityassociation/${cluster}/a-1`);
    return [
      "change which roles pods of a spoke have",
      asks(`eks:${call}`, on("fleet-hub")),
      { resource: on("fleet-spoke-a") },
    ];
  }),
  twin("delete a spoke", asks("eks:DeleteCluster", arn("eks", "cluster/fleet-hub")), {
    resource: arn("eks", "cluster/fleet-spoke-a"),
  }),
  twin(
    "read a secret of somebody else",
    asks("secretsmanager:GetSecretValue", arn("secretsmanager", "secret:fleet/git/gitops-system-AbCdEf")),
    { resource: arn("secretsmanager", "secret:other") },
  ),
  twin("use a key of somebody else", asks("kms:ScheduleKeyDeletion", arn("kms", "key/1"), ofFleet), { context: {} }),
  twin(
    "change the policy of another key, though it can give it the tags of the hub",
    asks("kms:PutKeyPolicy", secretsKeyArn),
    { resource: arn("kms", "key/1"), context: { ...ofFleet, "aws:ResourceTag/fleet.internal/cluster": "hub" } },
  ),
  twin("take a key of another fleet", asks("kms:TagResource", arn("kms", "key/1"), withTag), {
    context: { "aws:RequestTag/fleet.internal/fleet": "fleet", "aws:ResourceTag/fleet.internal/fleet": "other" },
  }),
  twin(
    "read a role of somebody else, while service-linked roles are looked up",
    asks(
      "iam:GetRole",
      arn("iam", "role/aws-service-role/eks-nodegroup.amazonaws.com/AWSServiceRoleForAmazonEKSNodegroup"),
    ),
    { resource: arn("iam", "role/other") },
  ),
  twin("build networks in another region", asks("ec2:CreateVpc", arn("ec2", "vpc/*"), making), {
    context: { ...withTag, "aws:RequestedRegion": "eu-west-1" },
  }),
  twin("build networks without the fleet's tag", asks("ec2:CreateVpc", arn("ec2", "vpc/*"), making), {
    context: region,
  }),
  twin("change a network without the fleet's tag", asks("ec2:ModifyVpcAttribute", arn("ec2", "vpc/vpc-1"), changing), {
    context: region,
  }),
  twin(
    "take rules from a security group of another fleet, while the default one of its VPC has no tag yet",
    asks("ec2:RevokeSecurityGroupIngress", arn("ec2", "security-group/sg-1"), region),
    { context: { ...region, "aws:ResourceTag/fleet.internal/fleet": "other" } },
  ),
  twin(
    "add rules to a security group",
    asks("ec2:RevokeSecurityGroupIngress", arn("ec2", "security-group/sg-1"), region),
    { action: "ec2:AuthorizeSecurityGroupIngress" },
  ),
  twin(
    "make an endpoint in a VPC without the fleet's tag, whatever tag it brings",
    asks("ec2:CreateVpcEndpoint", arn("ec2", "vpc/vpc-1"), { ...region, ...withTag, ...ofFleet }),
    { context: making },
  ),
  twin(
    "grant the use of a key by itself, while EKS asks for it in its name",
    asks("kms:CreateGrant", arn("kms", "key/1"), { ...ofFleet, "kms:GrantIsForAWSResource": "true" }),
    { context: ofFleet },
  ),
  ...[ofOther, {}].map(
    (context): Twin => [
      "delete an OIDC provider of another fleet, or without a fleet",
      asks("iam:DeleteOpenIDConnectProvider", oidcProvider, ofFleet),
      { context },
    ],
  ),
  twin(
    "take the OIDC provider of another fleet, while its own of before may get the tag",
    asks("iam:TagOpenIDConnectProvider", oidcProvider, withTag),
    { context: { ...withTag, "aws:ResourceTag/fleet.internal/fleet": "other" } },
  ),
  twin("change the network of another fleet", asks("ec2:DeleteSubnet", "*", changing), {
    context: { ...region, "aws:ResourceTag/fleet.internal/fleet": "other" },
  }),
  twin("make a policy of another name", asks("iam:CreatePolicy", arn("iam", "policy/fleet-boundary")), {
    resource: arn("iam", "policy/other"),
  }),
  twin(
    "register an identity provider that is not an EKS cluster",
    asks("iam:CreateOpenIDConnectProvider", oidcProvider, withTag),
    { resource: arn("iam", "oidc-provider/token.actions.githubusercontent.com") },
  ),
  twin("delete the Grafana of another fleet", asks("grafana:DeleteWorkspace", grafanaWorkspace, ofFleet), {
    context: ofOther,
  }),
  twin(
    "make itself an administrator of the Grafana of others",
    asks("grafana:UpdatePermissions", grafanaWorkspace, ofFleet),
    { context: {} },
  ),
  twin("make a Grafana without the fleet's tag", asks("grafana:CreateWorkspace", "*", making), { context: region }),
  twin("make keys to Grafana", asks("grafana:UpdateWorkspace", grafanaWorkspace, ofFleet), {
    action: "grafana:CreateWorkspaceServiceAccountToken",
  }),
  twin(
    "pass Grafana another role than its own",
    asks("iam:PassRole", arn("iam", "role/fleet-hub-grafana"), { "iam:PassedToService": "grafana.amazonaws.com" }),
    { resource: arn("iam", "role/fleet-hub-crossplane-iam") },
  ),
  twin(
    "pass Grafana's role to EKS",
    asks("iam:PassRole", arn("iam", "role/fleet-hub-grafana"), { "iam:PassedToService": "grafana.amazonaws.com" }),
    { context: { "iam:PassedToService": "eks.amazonaws.com" } },
  ),
  twin("change another policy", asks("iam:CreatePolicyVersion", arn("iam", "policy/fleet-boundary")), {
    resource: arn("iam", "policy/other"),
  }),
];

describe("the deployer's policies", () => {
  it.each(twins)("do not let it %s, while the allowed twin passes", (_name, twin, difference) => {
    expect(allowed(policies, twin)).toBe(true);
    expect(allowed(policies, { ...twin, ...difference })).toBe(false);
  });

  it("with a permissions boundary, give rights only to roles of the hub that carry it, and never take it off", () => {
    const boundary = "arn:aws:iam::000000000000:policy/platform-boundary";
    const bounded = Object.values(deployerPolicies({ ...scope, permissionsBoundary: boundary }));
    const resource = arn("iam", "role/fleet-hub-crossplane");
    for (const action of ["iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary"]) {
      const context = { "iam:PermissionsBoundary": boundary };
      expect(allowed(bounded, asks(action, resource, context)), action).toBe(true);
      expect(allowed(bounded, asks(action, resource)), action).toBe(false);
      const other = { "iam:PermissionsBoundary": arn("iam", "policy/fleet-boundary") };
      expect(allowed(bounded, asks(action, resource, other)), action).toBe(false);
      expect(allowed(policies, asks(action, resource)), action).toBe(true);
    }
    const attach = (context: Record<string, string>) =>
      allowed(bounded, {
        ...asks("iam:AttachRolePolicy", resource),
        context: { "iam:PolicyARN": arn("iam", "policy/fleet-hub-crossplane-roles"), ...context },
      });
    expect(attach({ "iam:PermissionsBoundary": boundary })).toBe(true);
    expect(attach({})).toBe(false);
    const remove = asks("iam:DeleteRolePermissionsBoundary", resource, { "iam:PermissionsBoundary": boundary });
    expect(allowed(bounded, remove)).toBe(false);
    expect(allowed(bounded, asks("iam:DeleteRole", resource))).toBe(true);
  });

  it("change no key's policy, where no account shares the fleet's secrets", () => {
    const context = { ...ofFleet, "aws:ResourceTag/fleet.internal/cluster": "hub" };
    for (const resource of [secretsKeyArn, arn("kms", "key/1")])
      expect(allowed(Object.values(deployerPolicies(scope)), asks("kms:PutKeyPolicy", resource, context))).toBe(false);
  });

  it("allow nothing of Grafana or IAM Identity Center that the stack does not say", () => {
    const actions = (grafana?: "AWS_SSO" | "SAML") =>
      Object.values(deployerPolicies(grafana === undefined ? scope : { ...scope, grafana })).flatMap(({ Statement }) =>
        Statement.flatMap(({ Action = [] }) => Action),
      );
    const services = (grafana?: "AWS_SSO" | "SAML") =>
      new Set(actions(grafana).map((action) => action.split(":")[0] as string));
    for (const service of ["grafana", "sso", "sso-directory", "organizations"]) {
      expect(services()).not.toContain(service);
      expect(services("AWS_SSO")).toContain(service);
    }
    expect(services("SAML")).toContain("grafana");
    expect(services("SAML")).not.toContain("sso");
  });

  it("are exactly these, and with a boundary and Grafana these", async () => {
    const bySid = (given: Parameters<typeof deployerPolicies>[0]) =>
      Object.fromEntries(
        Object.entries(deployerPolicies(given)).map(([name, { Version, Statement }]) => {
          const sids = Statement.map(({ Sid, ...statement }) => [Sid, statement] as const);
          expect(new Set(sids.map(([sid]) => sid)).size, name).toBe(sids.length);
          return [name, { Version, ...Object.fromEntries(sids) }];
        }),
      );
    const more = { permissionsBoundary: arn("iam", "policy/platform-boundary"), grafana: "AWS_SSO" } as const;
    await expectGolden("golden/deployer.yaml", bySid(scope));
    await expectGolden(
      "golden/deployer-with-a-boundary-and-grafana.diff.yaml",
      bySid({ ...scope, ...more }),
      bySid(scope),
    );
  });
});
