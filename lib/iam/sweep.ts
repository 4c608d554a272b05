import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet sweep` does in an account. What is left behind carries no tag of the fleet, so that none of it can be named before
 * (Service Authorization Reference).
 */
export const sweepPolicy = (): PolicyDocument =>
  policy({
    Sid: "LeftInTheVpcOfASpoke",
    Effect: "Allow",
    Action: [
      "ec2:DeleteNetworkInterface",
      "ec2:DeleteSecurityGroup",
      "ec2:DescribeNetworkInterfaces",
      "ec2:DescribeSecurityGroups",
      "ec2:DescribeVolumes",
      "ec2:RevokeSecurityGroupIngress",
      "eks:DescribeCluster",
    ],
    Resource: ["*"],
  });
