import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet doctor` reads of an account beyond what the deployer does: quotas, and what counts against them. None of these
 * actions knows a resource (Service Authorization Reference).
 */
export const doctorPolicy = (): PolicyDocument =>
  policy({
    Sid: "Quotas",
    Effect: "Allow",
    Action: [
      "ec2:DescribeAddresses",
      "ec2:DescribeNatGateways",
      "ec2:DescribeSubnets",
      "ec2:DescribeVpcs",
      "eks:ListClusters",
      "iam:ListOpenIDConnectProviders",
      "iam:ListRoles",
      "servicequotas:GetAWSDefaultServiceQuota",
      "servicequotas:GetServiceQuota",
    ],
    Resource: ["*"],
  });
