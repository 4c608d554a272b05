import { principalTags } from "../labels.ts";
import { type Databases, databaseStatements } from "./databases.ts";
import {
  arns,
  type Condition,
  type PolicyDocument,
  policy,
  principalTag,
  type Scope,
  type Statement,
  whereArnsDont,
} from "./policy.ts";
import { boundedRoleStatements, keepBoundariesStatement } from "./roles.ts";

/**
 * Beginning of the names that the Crossplane of the spoke `cluster` may use for applications: tables, queues and roles; of buckets {@link bucketPrefix}.
 * A spoke's name has no underscore, so spoke `dev` never reaches what belongs to a spoke `dev-2`.
 */
export function tenantPrefix(cluster: string): string {
  return `${cluster}_`;
}

/**
 * Beginning of the names of buckets of applications on the spoke `cluster`; a bucket's name has no underscore. It is
 * `<cluster>--<namespace>--<name>-<account id>`: names are shared by all accounts of a partition (S3 User Guide, "General purpose bucket naming
 * rules"). Two hyphens end a part, so a cluster, a namespace or a name that has two in a row has no buckets.
 */
export function bucketPrefix(cluster: string): string {
  return `${cluster}--`;
}

/** The bucket `name` of the application in `namespace`. */
export const bucketName = (cluster: string, namespace: string, name: string, accountId: string): string =>
  `${bucketPrefix(cluster)}${namespace}--${name}-${accountId}`;

/** Whether an EKS cluster or a namespace with this name can have buckets that are nobody else's by their names. */
export const canHaveBuckets = (name: string): boolean => !name.includes("--");

/** The add-on of a Spoke whose applications order buckets. */
export const bucketsAddon = "s3_buckets";

/** The add-on of a Spoke whose backups are in a bucket that its Crossplane makes. */
export const backupsAddon = "velero";

/**
 * Of this account only, which the ARN of a bucket doesn't say. S3 has the key for all of its actions (Service Authorization Reference).
 */
const ownAccount = ({ accountId }: Scope): Condition => ({ StringEquals: { "s3:ResourceAccount": accountId } });

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

/** What an application does with its buckets. Versions of objects are not among it: what it deletes or overwrites can be brought back. */
const objectActions = ["AbortMultipartUpload", "DeleteObject", "GetObject", "ListBucket", "PutObject"].map(
  (action) => `s3:${action}`,
);

/**
 * The permissions boundary of every role that an application orders on a spoke: the data of the tables, queues and buckets whose names begin
 * with the cluster and namespace in the role's tags. Whoever makes a role chooses its tags, and who assumes it those of the session, so
 * the role's name must begin with the same: IAM lets a spoke's Crossplane choose names under its own prefix only
 * ({@link spokeCrossplanePolicy}), admission on the spoke keeps a namespace to its own. aws:PrincipalArn of a session is the role's ARN
 * (IAM User Guide, "AWS global condition context keys"); values of tags hold no wildcards (IAM API Reference, "Tag").
 */
export function tenantBoundary(scope: Scope): PolicyDocument {
  const { bucket, table, queue, role } = arns(scope);
  const [cluster, namespace] = [principalTag(principalTags.cluster), principalTag(principalTags.namespace)];
  const own = `${tenantPrefix(cluster)}${namespace}`;
  // `*` matches a slash too, and a role with a path of its own has the ARN `role/<path><name>`.
  const ofRole: Condition = {
    ArnLike: { "aws:PrincipalArn": [role(own), role(`${own}_*`)] },
    ArnNotLike: { "aws:PrincipalArn": role(`${own}_*/*`) },
  };
  return policy(
    {
      Sid: "OwnTablesAndQueues",
      Effect: "Allow",
      Action: dataActions,
      Resource: [table(`${own}_*`), queue(`${own}_*`)],
      Condition: ofRole,
    },
    {
      Sid: "OwnBuckets",
      Effect: "Allow",
      Action: objectActions,
      Resource: [bucket(`${bucketPrefix(cluster)}${namespace}--*`)],
      Condition: { ...ofRole, ...ownAccount(scope) },
    },
    ...whereArnsDont(scope),
  );
}

export interface SpokeCrossplaneScope extends Scope {
  /** Name of the spoke's EKS cluster: prefix of everything that its Crossplane may touch. */
  readonly cluster: string;
  readonly tenantBoundaryArn: string;
  /** Whether applications order buckets: the Spoke has the add-on for it. */
  readonly buckets: boolean;
  /** Their databases, where they order some or did. */
  readonly databases: Databases | undefined;
}

/** The whole life of buckets; not what is in them, and no policy, which would share it with others. */
const bucketStatement = (scope: SpokeCrossplaneScope): Statement => ({
  Sid: "Buckets",
  Effect: "Allow",
  Action: [
    "s3:CreateBucket",
    "s3:DeleteBucket",
    "s3:Get*Configuration",
    "s3:GetBucket*",
    "s3:ListBucket",
    "s3:ListTagsForResource",
    "s3:PutBucketTagging",
    "s3:PutBucketVersioning",
    "s3:TagResource",
    "s3:UntagResource",
  ],
  Resource: [arns(scope).bucket(`${bucketPrefix(scope.cluster)}*`)],
  Condition: ownAccount(scope),
});

/**
 * What a spoke's own Crossplane may do for applications: tables, queues, bounded roles and, where they are wanted, buckets and databases, under {@link tenantPrefix}. It attaches no
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
    ...(scope.buckets ? [bucketStatement(scope)] : []),
    ...(scope.databases === undefined ? [] : databaseStatements(scope, scope.databases)),
    ...boundedRoleStatements([name.role(owned)], [tenantBoundaryArn]),
    keepBoundariesStatement,
  );
}
