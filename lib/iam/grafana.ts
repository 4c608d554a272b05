import { fleetTag } from "../labels.ts";
import { fleetNames } from "../names.ts";
import { arns, type PolicyDocument, type Scope, type Statement } from "./policy.ts";
import { serviceTrust } from "./trust.ts";

/** How people sign in to Grafana: by IAM Identity Center, or by SAML. */
export const grafanaAuthentications = ["AWS_SSO", "SAML"] as const;
export type GrafanaAuthentication = (typeof grafanaAuthentications)[number];

const grafana = "grafana.amazonaws.com";

/**
 * Trust policy of the role with which workspaces of Amazon Managed Grafana read: only those of one account and region may be behind the
 * service's call. A workspace's own ARN can't be named: the workspace is made with the role.
 */
export const grafanaTrust = (scope: Scope): PolicyDocument =>
  serviceTrust(grafana, ["sts:AssumeRole"], {
    StringEquals: { "aws:SourceAccount": scope.accountId },
    ArnLike: { "aws:SourceArn": arns(scope).grafanaWorkspace("*") },
  });

/**
 * What registers a workspace as an application of IAM Identity Center, has groups looked up there for its administrators, and removes it
 * again. None of it names a resource (CloudFormation's AWS::Grafana::Workspace; AWS's policy AWSGrafanaWorkspacePermissionManagementV2).
 */
const identityCenter: Statement = {
  Sid: "IdentityCenter",
  Effect: "Allow",
  Action: [
    "organizations:DescribeOrganization",
    "sso-directory:DescribeGroup",
    "sso:CreateManagedApplicationInstance",
    "sso:DeleteManagedApplicationInstance",
    "sso:DescribeRegisteredRegions",
    "sso:GetApplicationInstance",
    "sso:GetManagedApplicationInstance",
    "sso:GetProfile",
    "sso:GetSharedSsoConfiguration",
    "sso:ListApplicationInstances",
    "sso:ListDirectoryAssociations",
    "sso:ListProfileAssociations",
    "sso:ListProfiles",
  ],
  Resource: ["*"],
};

/**
 * The life of workspaces of Amazon Managed Grafana: made with the fleet's tag, managed by it, and given the fleet's role for them. As with
 * workspaces for metrics, one of the account without any fleet's tag can be taken into the fleet.
 */
export function grafanaStatements(
  scope: Scope & { readonly fleet: string },
  authentication: GrafanaAuthentication,
): Statement[] {
  const workspace = arns(scope).grafanaWorkspace("*");
  const tagged = { [`aws:RequestTag/${fleetTag}`]: scope.fleet };
  return [
    {
      Sid: "MakeGrafana",
      Effect: "Allow",
      Action: ["grafana:CreateWorkspace"],
      Resource: ["*"],
      Condition: { StringEquals: { ...tagged, "aws:RequestedRegion": scope.region } },
    },
    {
      Sid: "TagGrafana",
      Effect: "Allow",
      Action: ["grafana:TagResource"],
      Resource: [workspace],
      Condition: { StringEquals: tagged, Null: { [`aws:ResourceTag/${fleetTag}`]: "true" } },
    },
    {
      Sid: "ChangeGrafana",
      Effect: "Allow",
      Action: [
        "grafana:DeleteWorkspace",
        "grafana:TagResource",
        "grafana:UntagResource",
        "grafana:UpdatePermissions",
        "grafana:UpdateWorkspace",
        "grafana:UpdateWorkspaceConfiguration",
      ],
      Resource: [workspace],
      Condition: { StringEquals: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet } },
    },
    {
      // Called right after the creation, when new tags may not count yet.
      Sid: "ReadGrafana",
      Effect: "Allow",
      Action: ["grafana:DescribeWorkspace", "grafana:DescribeWorkspaceConfiguration", "grafana:ListPermissions"],
      Resource: [workspace],
    },
    {
      Sid: "PassGrafanaRole",
      Effect: "Allow",
      Action: ["iam:PassRole"],
      Resource: [arns(scope).role(fleetNames(scope.fleet).grafanaRole)],
      Condition: { StringEquals: { "iam:PassedToService": grafana } },
    },
    ...(authentication === "AWS_SSO" ? [identityCenter] : []),
  ];
}
