import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { serviceTrust } from "./trust.ts";

/** Flow logs of the VPCs of spokes: what VPC Flow Logs writes to CloudWatch Logs, and by which right. */

/** The service that writes flow logs (Amazon VPC User Guide, "IAM role for publishing flow logs to CloudWatch Logs"). */
export const flowLogService = "vpc-flow-logs.amazonaws.com";

/** The log group of the VPC of the EKS cluster `cluster`: beside that of its control plane, with which it shares a statement in policies. */
export const flowLogGroup = (cluster: string): string => `/aws/eks/${cluster}/cluster-flow-logs`;

/** Who assumes the role that writes: the service, for flow logs of this account and these regions. */
export const flowLogTrust = (scope: Scope): PolicyDocument =>
  serviceTrust(flowLogService, ["sts:AssumeRole"], {
    StringEquals: { "aws:SourceAccount": scope.accountId },
    ArnLike: { "aws:SourceArn": `arn:${scope.partition}:ec2:${scope.region}:${scope.accountId}:vpc-flow-log/*` },
  });

/**
 * What the service does with the log group. AWS's example has CreateLogGroup too, but the group is there, and DescribeLogGroups, which counts for all groups of an
 * account or for none: terraform-aws-modules/terraform-aws-vpc (vpc-flow-logs.tf) gives it for the one group, where it has no effect, and the logs arrive.
 */
export const flowLogActions: readonly string[] = [
  "logs:CreateLogStream",
  "logs:DescribeLogStreams",
  "logs:PutLogEvents",
];

/** What the role may do that writes the flow log of a cluster's VPC. */
export const flowLogPolicy = (scope: Scope, cluster: string): PolicyDocument =>
  policy({
    Sid: "WriteFlowLogs",
    Effect: "Allow",
    Action: flowLogActions,
    // The group, and the streams in it.
    Resource: [arns(scope).logGroup(`${flowLogGroup(cluster)}*`)],
  });
