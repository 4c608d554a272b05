import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet doctor` reads of an account beyond what the deployer does: quotas, what counts against them, and the hub's
 * version. All but eks:DescribeCluster know no resource (Service Authorization Reference).
 */
export const doctorPolicy = (): PolicyDocument =>
  policy({
    Sid: "QuotasAndTheHub",
    Effect: "Allow",
    Action: [
      "ec2:DescribeAddresses",
      "ec2:DescribeInstanceTypes",
      "ec2:DescribeInstances",
      "ec2:DescribeNatGateways",
      "ec2:DescribeSubnets",
      "ec2:DescribeVpcEndpoints",
      "ec2:DescribeVpcs",
      "eks:DescribeCluster",
      "eks:ListClusters",
      "iam:ListOpenIDConnectProviders",
      "iam:ListRoles",
      "servicequotas:GetAWSDefaultServiceQuota",
      "servicequotas:GetServiceQuota",
    ],
    Resource: ["*"],
  });
