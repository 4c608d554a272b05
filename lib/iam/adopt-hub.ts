import { adoptPolicy } from "./adopt.ts";
import { type PolicyDocument, policy } from "./policy.ts";

/** What `fleet adopt-hub` reads of an account, besides what `pulumi preview` needs. Names are known, but not to this policy. */
export const adoptHubPolicy = (): PolicyDocument =>
  policy(...adoptPolicy().Statement, {
    Sid: "WhatIsLeftOfAHub",
    Effect: "Allow",
    Action: [
      "aps:DescribeAlertManagerDefinition",
      "aps:ListRuleGroupsNamespaces",
      "aps:ListWorkspaces",
      "ec2:DescribeSecurityGroups",
      "grafana:ListWorkspaces",
      "iam:GetOpenIDConnectProvider",
      "iam:GetPolicy",
      "iam:GetRole",
      "iam:GetRolePolicy",
      "iam:ListAttachedRolePolicies",
      "kms:DescribeKey",
      "logs:DescribeLogGroups",
      "secretsmanager:DescribeSecret",
    ],
    Resource: ["*"],
  });
