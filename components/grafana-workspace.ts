import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { type GrafanaAuthentication, grafanaTrust } from "../lib/iam/grafana.ts";
import { metricsReaderPolicy } from "../lib/iam/metrics.ts";
import type { Tags } from "../lib/labels.ts";
import { ServiceRole } from "./service-role.ts";
import { grafanaVersion } from "./versions.ts";

export interface GrafanaWorkspaceArgs {
  /** ARN of the workspace of Amazon Managed Service for Prometheus that Grafana may query: `arn` of a `MetricsWorkspace`. */
  readonly metricsWorkspaceArn: pulumi.Input<string>;
  /**
   * Name of the workspace, 1 to 255 letters, digits and `-._~`.
   * @default the component's name
   */
  readonly workspaceName?: string;
  /**
   * What the workspace is for, as AWS shows it.
   * @default none
   */
  readonly description?: string | undefined;
  /**
   * How people sign in: by IAM Identity Center (`AWS_SSO`), or by `SAML`, whose identity provider is entered in the workspace afterwards.
   * Another way replaces the workspace, and what people made in it is gone.
   * @default AWS_SSO
   */
  readonly authentication?: GrafanaAuthentication;
  /**
   * IDs of groups in IAM Identity Center whose members administer Grafana. With `SAML` the identity provider says who does.
   * @default none: the AWS console or CLI names the first administrator
   */
  readonly adminGroups?: readonly pulumi.Input<string>[];
  /**
   * Name of the role with which Grafana reads, at most 64 characters.
   * @default the component's name
   */
  readonly roleName?: string;
  /**
   * Path of the role in IAM.
   * @default "/"
   */
  readonly rolePath?: string | undefined;
  /**
   * ARN of a policy that is the role's permissions boundary.
   * @default none
   */
  readonly permissionsBoundary?: pulumi.Input<string> | undefined;
  /**
   * Tags of the workspace and its role.
   * @default those of the AWS provider (`aws:defaultTags`)
   */
  readonly tags?: Tags | undefined;
  /**
   * Pulumi refuses to delete or replace the workspace while this is true.
   * @default the component's own option `protect`
   */
  readonly protect?: boolean | undefined;
}

/**
 * A workspace of Amazon Managed Grafana, with a role that may query one workspace for metrics and do nothing else. Its data source and
 * dashboards are made in Grafana.
 * @example
 * const metrics = new MetricsWorkspace("shop-metrics");
 * const grafana = new GrafanaWorkspace("shop-grafana", { metricsWorkspaceArn: metrics.arn, adminGroups: [group] });
 */
export class GrafanaWorkspace extends pulumi.ComponentResource {
  /** ID of the workspace, `g-…`. */
  readonly id: pulumi.Output<string>;
  /** ARN of the workspace. */
  readonly arn: pulumi.Output<string>;
  /** Where people sign in: `https://` and the workspace's host. */
  readonly url: pulumi.Output<string>;

  constructor(name: string, args: GrafanaWorkspaceArgs, opts?: pulumi.ComponentResourceOptions) {
    super("eks-gitops-fleet:index:GrafanaWorkspace", name, {}, opts);
    const { workspaceName = name, description, authentication = "AWS_SSO", adminGroups = [] } = args;
    const { roleName = name, rolePath, permissionsBoundary, tags, protect } = args;
    const inComponent = { parent: this };
    const scope = pulumi.output({
      partition: aws.getPartitionOutput({}, inComponent).partition,
      accountId: aws.getCallerIdentityOutput({}, inComponent).accountId,
      region: aws.getRegionOutput({}, inComponent).region,
    });
    const role = new ServiceRole(
      `${name}-reader`,
      {
        roleName,
        description: "Grafana queries metrics",
        trust: scope.apply(grafanaTrust),
        policy: pulumi.output(args.metricsWorkspaceArn).apply(metricsReaderPolicy),
        rolePath,
        permissionsBoundary,
        tags,
      },
      inComponent,
    );
    const workspace = new aws.grafana.Workspace(
      `${name}-workspace`,
      {
        name: workspaceName,
        ...(description !== undefined && { description }),
        accountAccessType: "CURRENT_ACCOUNT",
        authenticationProviders: [authentication],
        permissionType: "CUSTOMER_MANAGED",
        roleArn: role.arn,
        dataSources: ["PROMETHEUS"],
        grafanaVersion,
        ...(tags && { tags }),
      },
      { ...inComponent, ...(protect !== undefined && { protect }) },
    );
    // A change takes the role from all groups first: the provider alone would never take it from one that is not named any more.
    if (adminGroups.length > 0)
      new aws.grafana.RoleAssociation(
        `${name}-admins`,
        { workspaceId: workspace.id, role: "ADMIN", groupIds: [...adminGroups] },
        { ...inComponent, deletedWith: workspace, replaceOnChanges: ["groupIds"], deleteBeforeReplace: true },
      );
    this.id = workspace.id;
    this.arn = workspace.arn;
    this.url = pulumi.interpolate`https://${workspace.endpoint}`;
    this.registerOutputs({ id: this.id, arn: this.arn, url: this.url });
  }
}
