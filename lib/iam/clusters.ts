import { arns, type Scope, type Statement } from "./policy.ts";

/** The whole life of the EKS clusters that the name or pattern `clusters` names, with the log groups of their control planes. */
export function clusterStatements(scope: Scope, clusters: string): Statement[] {
  const name = arns(scope);
  return [
    { Sid: "Clusters", Effect: "Allow", Action: ["eks:*"], Resource: name.clusterAndParts(clusters) },
    {
      Sid: "EksCatalogue",
      Effect: "Allow",
      Action: [
        "eks:DescribeAddonConfiguration",
        "eks:DescribeAddonVersions",
        "eks:DescribeClusterVersions",
        "eks:ListAccessPolicies",
      ],
      Resource: ["*"],
    },
    {
      Sid: "ControlPlaneLogs",
      Effect: "Allow",
      Action: [
        "logs:CreateLogGroup",
        "logs:DeleteLogGroup",
        "logs:DeleteRetentionPolicy",
        "logs:ListTagsForResource",
        "logs:PutRetentionPolicy",
        "logs:TagResource",
        "logs:UntagResource",
      ],
      Resource: [name.logGroup(`/aws/eks/${clusters}/cluster*`)],
    },
    { Sid: "FindLogGroups", Effect: "Allow", Action: ["logs:DescribeLogGroups"], Resource: ["*"] },
  ];
}
