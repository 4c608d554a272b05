import { type PolicyDocument, policy } from "./policy.ts";

/** What `fleet adopt` and `fleet recover` read of an account. None of it but the cluster, its node groups, associations and keys can be named (Service Authorization Reference), and which keys it is are what is looked for. */
export const adoptPolicy = (): PolicyDocument =>
  policy({
    Sid: "WhatASpokeIsMadeOf",
    Effect: "Allow",
    Action: [
      "ec2:DescribeAddresses",
      "ec2:DescribeFlowLogs",
      "ec2:DescribeInternetGateways",
      "ec2:DescribeLaunchTemplates",
      "ec2:DescribeNatGateways",
      "ec2:DescribeRouteTables",
      "ec2:DescribeSecurityGroupRules",
      "ec2:DescribeSubnets",
      "ec2:DescribeTransitGatewayVpcAttachments",
      "ec2:DescribeVpcEndpoints",
      "ec2:DescribeVpcs",
      "eks:DescribeCluster",
      "eks:DescribePodIdentityAssociation",
      "eks:ListNodegroups",
      "eks:ListPodIdentityAssociations",
      "iam:ListOpenIDConnectProviders",
      "kms:DescribeKey",
      "kms:ListKeys",
      "kms:ListResourceTags",
    ],
    Resource: ["*"],
  });
