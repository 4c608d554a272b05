import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What the proof on AWS reads of an account beyond what the deployer and `fleet doctor` do: what there is of a fleet, by tags and names.
 * On all resources: a list knows none, and what may be left has names that nobody foresees.
 */
export const awsProofPolicy = (): PolicyDocument =>
  policy({
    Sid: "Inventory",
    Effect: "Allow",
    Action: [
      "dynamodb:DescribeTable",
      "dynamodb:ListTables",
      "dynamodb:ListTagsOfResource",
      "ec2:DescribeAddresses",
      "ec2:DescribeInstances",
      "ec2:DescribeInternetGateways",
      "ec2:DescribeLaunchTemplates",
      "ec2:DescribeNatGateways",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeRouteTables",
      "ec2:DescribeSecurityGroups",
      "ec2:DescribeSubnets",
      "ec2:DescribeVolumes",
      "ec2:DescribeVpcEndpoints",
      "ec2:DescribeVpcs",
      "eks:DescribeCluster",
      "eks:DescribeNodegroup",
      "eks:DescribeUpdate",
      "eks:ListAssociatedAccessPolicies",
      "eks:ListClusters",
      "eks:ListNodegroups",
      "elasticloadbalancing:DescribeLoadBalancers",
      "elasticloadbalancing:DescribeTags",
      "iam:GetOpenIDConnectProvider",
      "iam:GetRole",
      "iam:ListOpenIDConnectProviders",
      "iam:ListPolicies",
      "iam:ListRoles",
      "kms:DescribeKey",
      "kms:ListAliases",
      "kms:ListKeys",
      "kms:ListResourceTags",
      "logs:DescribeLogGroups",
      "secretsmanager:ListSecrets",
      "sqs:GetQueueUrl",
      "sqs:ListQueueTags",
      "sqs:ListQueues",
      "ssm:DescribeInstanceInformation",
    ],
    Resource: ["*"],
  });
