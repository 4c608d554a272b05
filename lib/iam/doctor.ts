import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet doctor` reads of an account beyond what the deployer does: quotas, what counts against them, the hub's version and access
 * entries, the principals in them, the boundary of its roles, the trust policies of the workflows' roles, names of secrets, keys of volumes and logs, and
 * whether its network reaches the internet. Names of principals are the stack's or yours; most others know no resource (Service Authorization Reference).
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
      "ec2:DescribeVpcBlockPublicAccessExclusions",
      "ec2:DescribeVpcBlockPublicAccessOptions",
      "ec2:DescribeVpcEndpoints",
      "ec2:DescribeVpcs",
      "ec2:GetEbsDefaultKmsKeyId",
      "ec2:GetEbsEncryptionByDefault",
      "eks:DescribeCluster",
      "eks:ListAccessEntries",
      "eks:ListClusters",
      "iam:GetPolicy",
      "iam:GetRole",
      "iam:GetUser",
      "iam:ListOpenIDConnectProviders",
      "iam:ListRoles",
      "kms:DescribeKey",
      "kms:GetKeyPolicy",
      "secretsmanager:ListSecrets",
      "servicequotas:GetAWSDefaultServiceQuota",
      "servicequotas:GetServiceQuota",
    ],
    Resource: ["*"],
  });
