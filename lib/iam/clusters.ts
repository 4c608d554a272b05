import { arns, type Scope, type Statement } from "./policy.ts";

/** Calls on a cluster, its add-ons, access entries and node groups; the wildcards stand for several calls of one kind. */
const clusterCalls = [
  "*AccessEntry",
  "*Addon",
  "*Nodegroup",
  "*ssociateAccessPolicy",
  "CreateCluster",
  "DeleteCluster",
  "DescribeCluster",
  "DescribeUpdate",
  "ListAssociatedAccessPolicies",
  "ListTagsForResource",
  "TagResource",
  "UntagResource",
  "UpdateCluster*",
  "UpdateNodegroup*",
];

/** The whole life of the EKS clusters that the name or pattern `clusters` names, with the log groups of their control planes. */
export function clusterStatements(scope: Scope, clusters: string): Statement[] {
  const name = arns(scope);
  return [
    {
      Sid: "Clusters",
      Effect: "Allow",
      Action: clusterCalls.map((call) => `eks:${call}`),
      // EKS once asked for UpdateClusterVersion on cluster/<name>/update (aws-cdk#6060); a pattern matches that already.
      Resource: [...name.clusterAndParts(clusters), ...(clusters.endsWith("*") ? [] : [name.cluster(`${clusters}/*`)])],
    },
    {
      Sid: "ControlPlaneLogs",
      Effect: "Allow",
      Action: [
        "logs:CreateLogGroup",
        "logs:DeleteLogGroup",
        "logs:ListTagsForResource",
        "logs:PutRetentionPolicy",
        "logs:TagResource",
        "logs:UntagResource",
      ],
      Resource: [name.logGroup(`/aws/eks/${clusters}/cluster*`)],
    },
  ];
}
