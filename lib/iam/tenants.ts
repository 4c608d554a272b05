import { arns, type PolicyDocument, policy, type Scope } from "./policy.ts";
import { boundedRoleStatements, keepBoundaryStatements } from "./roles.ts";

/**
 * Beginning of the names that the Crossplane of the spoke `cluster` may use for applications: tables, queues and roles.
 * A spoke's name has no underscore, so spoke `dev` never reaches what belongs to a spoke `dev-2`.
 */
export function tenantPrefix(cluster: string): string {
  return `${cluster}_`;
}

/** The permissions boundary of every role that an application orders on a spoke: tables and queues of spokes, nothing of IAM. */
export function tenantBoundary(scope: Scope, spokePrefix: string): PolicyDocument {
  const { table, queue } = arns(scope);
  return policy({
    Sid: "TablesAndQueuesOfSpokes",
    Effect: "Allow",
    Action: ["dynamodb:*", "sqs:*"],
    Resource: [table(`${spokePrefix}*`), queue(`${spokePrefix}*`)],
  });
}

export interface SpokeCrossplaneScope extends Scope {
  /** Name of the spoke's EKS cluster: prefix of everything that its Crossplane may touch. */
  readonly cluster: string;
  readonly tenantBoundaryArn: string;
  readonly boundaryArn: string;
}

/** What a spoke's own Crossplane may do for applications: tables, queues and bounded roles under {@link tenantPrefix}. */
export function spokeCrossplanePolicy(scope: SpokeCrossplaneScope): PolicyDocument {
  const { cluster, tenantBoundaryArn, boundaryArn } = scope;
  const name = arns(scope);
  const owned = `${tenantPrefix(cluster)}*`;
  return policy(
    {
      Sid: "Tables",
      Effect: "Allow",
      Action: [
        "dynamodb:CreateTable",
        "dynamodb:DeleteTable",
        "dynamodb:Describe*",
        "dynamodb:ListTagsOfResource",
        "dynamodb:TagResource",
        "dynamodb:UntagResource",
        "dynamodb:UpdateContinuousBackups",
        "dynamodb:UpdateTable",
        "dynamodb:UpdateTimeToLive",
      ],
      Resource: [name.table(owned)],
    },
    {
      Sid: "Queues",
      Effect: "Allow",
      Action: [
        "sqs:CreateQueue",
        "sqs:DeleteQueue",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
        "sqs:ListQueueTags",
        "sqs:SetQueueAttributes",
        "sqs:TagQueue",
        "sqs:UntagQueue",
      ],
      Resource: [name.queue(owned)],
    },
    ...boundedRoleStatements([name.role(owned)], tenantBoundaryArn),
    ...keepBoundaryStatements([boundaryArn, tenantBoundaryArn]),
  );
}
