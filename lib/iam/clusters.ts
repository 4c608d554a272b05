import { ec2Actions } from "./ec2.ts";
import { arns, type Scope, type Statement } from "./policy.ts";

/** Calls on a cluster, its add-ons, access entries and node groups; the wildcards stand for several calls of one kind. */
const clusterCalls = [
  "*AccessEntry",
  "*Addon",
  "*Nodegroup*",
  "*ssociate*AccessPolic*",
  "*teCluster*",
  "DescribeCluster",
  "DescribeUpdate",
  "ListTags*",
  "*agResource",
];

/**
 * Rules of the security groups that EKS makes for clusters and that say who reaches a private endpoint. EKS gives these groups the name
 * of the cluster as a tag (EKS User Guide, "View Amazon EKS security group requirements for clusters") and none of ours. The rule itself
 * is one of what networkStatements (ec2.ts) lets be made; it is never changed, for another network is another rule.
 */
export function apiRuleStatement(scope: Scope, clusters: string): Statement {
  return {
    Sid: "RulesOfClusters",
    Effect: "Allow",
    Action: ec2Actions(["*SecurityGroupIngress"]),
    Resource: arns(scope).ec2("security-group"),
    Condition: { StringLike: { "aws:ResourceTag/aws:eks:cluster-name": clusters } },
  };
}

/**
 * The whole life of the EKS clusters that the name or pattern `clusters` names.
 * @param podIdentities calls on what EKS Pod Identity associates with service accounts there; default: none
 */
export function eksStatement(scope: Scope, clusters: string, podIdentities: readonly string[] = []): Statement {
  const name = arns(scope);
  return {
    Sid: "Clusters",
    Effect: "Allow",
    Action: [...clusterCalls, ...podIdentities].map((call) => `eks:${call}`),
    // EKS once asked for UpdateClusterVersion on cluster/<name>/update (aws-cdk#6060); a pattern matches that already.
    Resource: [
      ...name.clusterAndParts(clusters),
      ...(podIdentities.length === 0 ? [] : [name.podIdentityAssociations(clusters)]),
      ...(clusters.endsWith("*") ? [] : [name.cluster(`${clusters}/*`)]),
    ],
  };
}

/** The log groups of the control planes and flow logs of these clusters. */
export const logGroupStatement = (scope: Scope, clusters: string): Statement => ({
  Sid: "ControlPlaneLogs",
  Effect: "Allow",
  // *ssociateKmsKey: CloudWatch Logs itself uses the key, under the key's policy; the caller needs no permission in KMS.
  Action: [
    "logs:*ssociateKmsKey",
    "logs:*teLogGroup",
    "logs:ListTagsForResource",
    "logs:PutRetentionPolicy",
    "logs:*agResource",
  ],
  Resource: [arns(scope).logGroup(`/aws/eks/${clusters}/cluster*`)],
});

/** EKS clusters with their log groups, and who reaches their private endpoints. */
export const clusterStatements = (
  scope: Scope,
  clusters: string,
  podIdentities: readonly string[] = [],
): Statement[] => [
  eksStatement(scope, clusters, podIdentities),
  logGroupStatement(scope, clusters),
  apiRuleStatement(scope, clusters),
];
