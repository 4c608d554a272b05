import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { serviceTrust } from "./trust.ts";

/** Flow logs of the VPCs of spokes: what VPC Flow Logs writes to CloudWatch Logs, and by which right. */

/** The service that writes flow logs (Amazon VPC User Guide, "IAM role for publishing flow logs to CloudWatch Logs"). */
export const flowLogService = "vpc-flow-logs.amazonaws.com";

/** The log group of the VPC of the EKS cluster `cluster`. */
export const flowLogGroup = (cluster: string): string => `/aws/vpc-flow-logs/${cluster}`;

/** Who assumes the role that writes: the service, for flow logs of this account and these regions. */
export const flowLogTrust = (scope: Scope): PolicyDocument =>
  serviceTrust(flowLogService, ["sts:AssumeRole"], {
    StringEquals: { "aws:SourceAccount": scope.accountId },
    ArnLike: { "aws:SourceArn": `arn:${scope.partition}:ec2:${scope.region}:${scope.accountId}:vpc-flow-log/*` },
  });

/** What the service does with the log group. Without CreateLogGroup, which AWS's example has: the group is there. */
export const flowLogActions: readonly string[] = [
  "logs:CreateLogStream",
  "logs:DescribeLogGroups",
  "logs:DescribeLogStreams",
  "logs:PutLogEvents",
];

/** ARN of what is in the log group of a cluster. */
export const flowLogEntries = (scope: Scope, cluster: string): string =>
  arns(scope).logGroup(`${flowLogGroup(cluster)}:*`);

/** What the role may do that writes the flow log of a cluster's VPC. */
export const flowLogPolicy = (scope: Scope, cluster: string): PolicyDocument =>
  policy({
    Sid: "WriteFlowLogs",
    Effect: "Allow",
    Action: flowLogActions,
    Resource: [flowLogEntries(scope, cluster)],
  });
