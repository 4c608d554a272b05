import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet doctor` reads of an account beyond what the deployer does: quotas, what counts against them, the hub's
 * version, and whether its network reaches the internet. All but eks:DescribeCluster know no resource (Service Authorization Reference).
 */
export const doctorPolicy = (): PolicyDocument =>
  policy({
    Sid: "QuotasAndTheHub",
    Effect: "Allow",
    Action: [
      "ec2:DescribeAddresses",
      "ec2:DescribeNatGateways",
      "ec2:DescribeSubnets",
      "ec2:DescribeVpcBlockPublicAccessExclusions",
      "ec2:DescribeVpcBlockPublicAccessOptions",
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
