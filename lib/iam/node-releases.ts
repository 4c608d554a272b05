import { type PolicyDocument, policy } from "./policy.ts";

/**
 * What `fleet node-releases` reads: AWS's public parameters with the releases of EKS's AMIs, whose ARNs name no account (Systems
 * Manager User Guide, "Discovering public parameters in Parameter Store").
 */
export const nodeReleasesPolicy = (partition: string): PolicyDocument =>
  policy({
    Sid: "ReleasesOfAmis",
    Effect: "Allow",
    Action: ["ssm:GetParameters"],
    Resource: ["eks/optimized-ami", "bottlerocket"].map(
      (service) => `arn:${partition}:ssm:*::parameter/aws/service/${service}/*`,
    ),
  });
