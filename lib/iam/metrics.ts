import { fleetTag } from "../labels.ts";
import type { AddonPermission } from "./addons.ts";
import { arns, type PolicyDocument, policy, type Scope, type Statement } from "./policy.ts";

/**
 * The life of workspaces of Amazon Managed Service for Prometheus with their rules and alert managers: made with the fleet's tag, managed
 * by it. The price: a workspace of the account without this tag can be taken into the fleet, and deleted then; one that has it already,
 * this fleet's or another's, can't. AWS gives the workspace's tags for none of the calls that make a rules file in it, so that one can be
 * added to any workspace (Service Authorization Reference, "Amazon Managed Service for Prometheus").
 */
export function metricsStatements(scope: Scope & { readonly fleet: string }): Statement[] {
  const { workspace, rules } = { workspace: arns(scope).metricsWorkspace("*"), rules: arns(scope).metricsRules("*") };
  const tagged = { [`aws:RequestTag/${fleetTag}`]: scope.fleet };
  const ofFleet = { StringEquals: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet } };
  return [
    {
      Sid: "MakeWorkspaces",
      Effect: "Allow",
      Action: ["aps:CreateWorkspace"],
      Resource: ["*"],
      Condition: { StringEquals: { ...tagged, "aws:RequestedRegion": scope.region } },
    },
    {
      Sid: "MakeRules",
      Effect: "Allow",
      Action: ["aps:CreateRuleGroupsNamespace"],
      Resource: [rules],
      Condition: { StringEquals: tagged },
    },
    {
      Sid: "TagWorkspaces",
      Effect: "Allow",
      Action: ["aps:TagResource"],
      Resource: [workspace, rules],
      Condition: { StringEquals: tagged, Null: { [`aws:ResourceTag/${fleetTag}`]: "true" } },
    },
    {
      Sid: "ChangeWorkspaces",
      Effect: "Allow",
      Action: [
        "aps:CreateAlertManagerDefinition",
        "aps:DeleteAlertManagerDefinition",
        "aps:DeleteWorkspace",
        "aps:PutAlertManagerDefinition",
        "aps:TagResource",
        "aps:UntagResource",
        "aps:UpdateWorkspaceAlias",
      ],
      Resource: [workspace],
      Condition: ofFleet,
    },
    {
      Sid: "ChangeRules",
      Effect: "Allow",
      Action: ["aps:DeleteRuleGroupsNamespace", "aps:PutRuleGroupsNamespace", "aps:TagResource", "aps:UntagResource"],
      Resource: [rules],
      Condition: ofFleet,
    },
    {
      // Called right after the creation, when new tags may not count yet.
      Sid: "ReadWorkspaces",
      Effect: "Allow",
      Action: [
        "aps:DescribeAlertManagerDefinition",
        "aps:DescribeLoggingConfiguration",
        "aps:DescribeRuleGroupsNamespace",
        "aps:DescribeWorkspace",
        "aps:ListTagsForResource",
      ],
      Resource: [workspace, rules],
    },
  ];
}

/** What an add-on may do that writes metrics to a workspace. */
export const remoteWrite = (workspaceArn: string): AddonPermission => ({
  actions: ["aps:RemoteWrite"],
  resources: [workspaceArn],
});

/**
 * What Grafana may do: query one workspace. This is all that its data source needs; to list and describe the account's workspaces serves
 * discovery alone (Amazon Managed Grafana User Guide, "Permissions and policies for AWS data sources").
 */
export const metricsReaderPolicy = (workspaceArn: string): PolicyDocument =>
  policy({
    Sid: "QueryMetrics",
    Effect: "Allow",
    Action: ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"],
    Resource: [workspaceArn],
  });

/** What the hub's agent may do: write to one workspace. */
export const metricsWriterPolicy = (workspaceArn: string): PolicyDocument => {
  const { actions, resources } = remoteWrite(workspaceArn);
  return policy({ Sid: "WriteMetrics", Effect: "Allow", Action: actions, Resource: resources });
};
