import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import type { HubCluster } from "../components/hub-cluster.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import type { MetricsWorkspace, MetricsWorkspaceArgs } from "../components/metrics-workspace.ts";
import type { AddonPermission } from "../lib/iam/addons.ts";
import { metricsWriterPolicy, remoteWrite } from "../lib/iam/metrics.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, metricsAgent } from "../lib/names.ts";
import type { Settings } from "./settings.ts";

/** Where the fleet's metrics go. */

/** Alerts for every fleet: a rules file of Prometheus. */
const alertRules = new URL("alert-rules.yaml", import.meta.url);

/** The fleet's workspace of Amazon Managed Service for Prometheus; undefined where the stack has none. */
export function metricsWorkspaceArgs(
  { fleet, metrics, metricsAlertTopicArn, protect }: Settings,
  tags: Tags,
): MetricsWorkspaceArgs | undefined {
  if (metrics === "none") return undefined;
  return {
    alias: fleet,
    rules: { fleet: readFileSync(alertRules, "utf8") },
    alertTopicArn: metricsAlertTopicArn || undefined,
    tags,
    protect,
  };
}

/** What the roles of add-ons may do besides the stack's `addonPermissions`: write to the workspace. */
export function metricsPermissions(workspace: MetricsWorkspace | undefined): pulumi.Output<readonly AddonPermission[]> {
  if (workspace === undefined) return pulumi.output([]);
  return workspace.arn.apply((arn) => [remoteWrite(arn)]);
}

/** The role with which the hub's agent writes to the workspace, and does nothing else. */
export function metricsRole(
  { fleet, permissionsBoundary }: Settings,
  { oidc }: HubCluster,
  workspace: MetricsWorkspace,
  tags: Tags,
): IrsaRole {
  return new IrsaRole("prometheus", {
    roleName: fleetNames(fleet).metricsRole,
    description: "Prometheus on the hub writes metrics",
    oidc,
    subject: metricsAgent,
    policy: workspace.arn.apply(metricsWriterPolicy),
    permissionsBoundary: permissionsBoundary || undefined,
    tags,
  });
}
