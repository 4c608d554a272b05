import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Tags } from "../lib/labels.ts";

export interface MetricsWorkspaceArgs {
  /**
   * Alias of the workspace, 1 to 100 characters; several workspaces may have the same.
   * @default the component's name
   */
  readonly alias?: string;
  /**
   * Recording and alerting rules: for each namespace of rule groups a rules file of Prometheus as YAML (at most 1 MB).
   * @default none
   */
  readonly rules?: Readonly<Record<string, pulumi.Input<string>>>;
  /**
   * ARN of the standard SNS topic that receives every alert, in the account of the workspace. The topic's policy must let
   * `aps.amazonaws.com` publish.
   * @default none: the state of alerts can be queried, and nobody is told
   */
  readonly alertTopicArn?: pulumi.Input<string> | undefined;
  /**
   * ARN of a symmetric customer managed KMS key that encrypts the workspace. Another key replaces the workspace, and its samples are gone.
   * @default a key that AWS owns
   */
  readonly kmsKeyArn?: pulumi.Input<string> | undefined;
  /**
   * Tags of the workspace and its rules.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
  /**
   * Pulumi refuses to delete or replace the workspace while this is true.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
}

/** Region of an SNS topic: its messages are signed for that one. */
const regionOf = (topicArn: string): string => topicArn.split(":")[3] ?? "";

/**
 * What Amazon Managed Service for Prometheus takes as the definition of an alert manager: Alertmanager's own configuration as a text
 * under `alertmanager_config` (User Guide, "Create an alert manager configuration"). JSON is YAML.
 */
function alertManagerDefinition(topicArn: string): string {
  const receiver = "topic";
  const configuration = {
    route: { receiver, group_by: ["alertname", "cluster"] },
    receivers: [
      {
        name: receiver,
        sns_configs: [{ topic_arn: topicArn, sigv4: { region: regionOf(topicArn) }, send_resolved: true }],
      },
    ],
  };
  return JSON.stringify({ alertmanager_config: JSON.stringify(configuration) });
}

/**
 * A workspace of Amazon Managed Service for Prometheus, with rules and an alert manager. AWS keeps samples for 150 days unless the
 * workspace is configured otherwise.
 * @example
 * const metrics = new MetricsWorkspace("shop-metrics", { rules: { shop: "groups: []" } });
 */
export class MetricsWorkspace extends pulumi.ComponentResource {
  /** ARN of the workspace: the resource of `aps:RemoteWrite` and `aps:QueryMetrics`. */
  readonly arn: pulumi.Output<string>;
  /** URL with a slash at its end, to which `api/v1/remote_write` and `api/v1/query` are appended. */
  readonly endpoint: pulumi.Output<string>;

  constructor(name: string, args: MetricsWorkspaceArgs = {}, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:MetricsWorkspace", name, {}, opts);
    const { alias = name, rules = {}, alertTopicArn, kmsKeyArn, tags, protect } = args;
    const workspace = new aws.amp.Workspace(
      `${name}-workspace`,
      { alias, ...(kmsKeyArn !== undefined && { kmsKeyArn }), ...(tags && { tags }) },
      { parent: this, ...(protect !== undefined && { protect }) },
    );
    const inWorkspace = { parent: this, deletedWith: workspace };
    for (const [namespace, data] of Object.entries(rules))
      new aws.amp.RuleGroupNamespace(
        `${name}-rules-${namespace}`,
        { name: namespace, workspaceId: workspace.id, data, ...(tags && { tags }) },
        inWorkspace,
      );
    if (alertTopicArn !== undefined)
      new aws.amp.AlertManagerDefinition(
        `${name}-alert-manager`,
        { workspaceId: workspace.id, definition: pulumi.output(alertTopicArn).apply(alertManagerDefinition) },
        inWorkspace,
      );
    this.arn = workspace.arn;
    this.endpoint = workspace.prometheusEndpoint;
    this.registerOutputs({ arn: this.arn, endpoint: this.endpoint });
  }
}
