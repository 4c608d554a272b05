import * as pulumi from "@pulumi/pulumi";
import type { GrafanaWorkspaceArgs } from "../components/grafana-workspace.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import type { MetricsWorkspace, MetricsWorkspaceArgs } from "../components/metrics-workspace.ts";
import type { SealingKeys } from "../components/sealing-keys.ts";
import type { AddonPermission } from "../lib/iam/addons.ts";
import { metricsWriterPolicy, remoteWrite } from "../lib/iam/metrics.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, metricsAgent } from "../lib/names.ts";
import { alertRules } from "./alert-rules.ts";
import { ofEveryRole, type PodTrust } from "./hub.ts";
import type { Settings } from "./settings.ts";

/** Where the fleet's metrics go, and who reads them. */

/** The fleet's workspace of Amazon Managed Service for Prometheus; undefined where the stack has none. */
export function metricsWorkspaceArgs(
  { fleet, metrics, metricsAlertTopicArn, serviceQuotas, protect }: Settings,
  sealingKeys: SealingKeys,
  tags: Tags,
): MetricsWorkspaceArgs | undefined {
  if (metrics === "none") return undefined;
  return {
    alias: fleet,
    rules: {
      fleet: pulumi.output(sealingKeys.ends).apply((sealingKeyEnds) => alertRules({ serviceQuotas, sealingKeyEnds })),
    },
    alertTopicArn: metricsAlertTopicArn || undefined,
    tags,
    protect,
  };
}

/** The fleet's workspace of Amazon Managed Grafana; undefined where the stack has none. */
export function grafanaWorkspaceArgs(settings: Settings, workspace: MetricsWorkspace | undefined, tags: Tags) {
  const { fleet, grafana, grafanaAuthentication, grafanaAdminGroups, protect } = settings;
  if (grafana === "none" || workspace === undefined) return undefined;
  return {
    metricsWorkspaceArn: workspace.arn,
    workspaceName: fleet,
    description: `Metrics of fleet ${fleet}`,
    authentication: grafanaAuthentication,
    adminGroups: grafanaAdminGroups,
    roleName: fleetNames(fleet).grafanaRole,
    ...ofEveryRole(settings),
    tags,
    protect,
  } satisfies GrafanaWorkspaceArgs;
}

/** What the roles of add-ons may do: what the stack permits, and writing to the workspace; undefined where that is nothing. */
export function permittedToAddons(
  { addonPermissions }: Settings,
  workspace: MetricsWorkspace | undefined,
): pulumi.Output<readonly AddonPermission[]> | undefined {
  if (workspace === undefined) return addonPermissions.length === 0 ? undefined : pulumi.output([...addonPermissions]);
  return workspace.arn.apply((arn) => [...addonPermissions, remoteWrite(arn)]);
}

/** The role with which the hub's agent writes to the workspace, and does nothing else. */
export function metricsRole(settings: Settings, podTrust: PodTrust, workspace: MetricsWorkspace, tags: Tags): IrsaRole {
  return new IrsaRole("prometheus", {
    roleName: fleetNames(settings.fleet).metricsRole,
    description: "Prometheus on the hub writes metrics",
    ...podTrust,
    subject: metricsAgent,
    policy: workspace.arn.apply(metricsWriterPolicy),
    ...ofEveryRole(settings),
    tags,
  });
}
