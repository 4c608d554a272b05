import { principalTags } from "../labels.ts";
import { arns, type PolicyDocument, policy, principalTag, type Scope } from "./policy.ts";
import { boundedRoleStatements, keepBoundariesStatement } from "./roles.ts";

/**
 * Beginning of the names that the Crossplane of the spoke `cluster` may use for applications: tables, queues and roles.
 * A spoke's name has no underscore, so spoke `dev` never reaches what belongs to a spoke `dev-2`.
 */
export function tenantPrefix(cluster: string): string {
  return `${cluster}_`;
}

/** What an application does with its tables and queues: data, no resource policies, which would share them with others. */
const dataActions = [
  ...[
    "BatchGetItem",
    "BatchWriteItem",
    "DeleteItem",
    "DescribeTable",
    "GetItem",
    "PutItem",
    "Query",
    "Scan",
    "UpdateItem",
  ].map((action) => `dynamodb:${action}`),
  ...[
    "ChangeMessageVisibility",
    "DeleteMessage",
    "GetQueueAttributes",
    "GetQueueUrl",
    "ReceiveMessage",
    "SendMessage",
  ].map((action) => `sqs:${action}`),
];

/**
 * The permissions boundary of every role that an application orders on a spoke: the data of the tables and queues whose names begin
 * with the cluster and namespace in the role's tags. Whoever makes a role chooses its tags, and who assumes it those of the session, so
 * the role's name must begin with the same: IAM lets a spoke's Crossplane choose names under its own prefix only
 * ({@link spokeCrossplanePolicy}), admission on the spoke keeps a namespace to its own. aws:PrincipalArn of a session is the role's ARN
 * (IAM User Guide, "AWS global condition context keys"); values of tags hold no wildcards (IAM API Reference, "Tag").
 */
export function tenantBoundary(scope: Scope): PolicyDocument {
  const { table, queue, role } = arns(scope);
  const own = `${tenantPrefix(principalTag(principalTags.cluster))}${principalTag(principalTags.namespace)}`;
  return policy({
    Sid: "OwnTablesAndQueues",
    Effect: "Allow",
    Action: dataActions,
    Resource: [table(`${own}_*`), queue(`${own}_*`)],
    Condition: { ArnLike: { "aws:PrincipalArn": [role(own), role(`${own}_*`)] } },
  });
}

export interface SpokeCrossplaneScope extends Scope {
  /** Name of the spoke's EKS cluster: prefix of everything that its Crossplane may touch. */
  readonly cluster: string;
  readonly tenantBoundaryArn: string;
}

/**
 * What a spoke's own Crossplane may do for applications: tables, queues and bounded roles under {@link tenantPrefix}. It attaches no
 * managed policy: the rights of these roles stand in inline policies. What it may do here, the fleet's boundary must leave it.
 */
export function spokeCrossplanePolicy(scope: SpokeCrossplaneScope): PolicyDocument {
  const { cluster, tenantBoundaryArn } = scope;
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
    ...boundedRoleStatements([name.role(owned)], [tenantBoundaryArn]),
    keepBoundariesStatement,
  );
}
