import { type PolicyDocument, policy } from "./policy.ts";

/** What `fleet adopt` reads of an account. None of it but the cluster and its node groups can be named (Service Authorization Reference). */
export const adoptPolicy = (): PolicyDocument =>
  policy({
    Sid: "WhatASpokeIsMadeOf",
    Effect: "Allow",
    Action: [
      "ec2:DescribeAddresses",
      "ec2:DescribeInternetGateways",
      "ec2:DescribeLaunchTemplates",
      "ec2:DescribeNatGateways",
      "ec2:DescribeRouteTables",
      "ec2:DescribeSecurityGroupRules",
      "ec2:DescribeSubnets",
      "ec2:DescribeVpcEndpoints",
      "ec2:DescribeVpcs",
      "eks:DescribeCluster",
      "eks:DescribeNodegroup",
      "eks:ListNodegroups",
      "iam:ListOpenIDConnectProviders",
    ],
    Resource: ["*"],
  });
