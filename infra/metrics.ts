import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import type { GrafanaWorkspaceArgs } from "../components/grafana-workspace.ts";
import type { HubCluster } from "../components/hub-cluster.ts";
import { IrsaRole } from "../components/irsa-role.ts";
import type { MetricsWorkspace, MetricsWorkspaceArgs } from "../components/metrics-workspace.ts";
import { type KubernetesRelease, kubernetesReleases, supportWarningDays } from "../components/versions.ts";
import type { AddonPermission } from "../lib/iam/addons.ts";
import { metricsWriterPolicy, remoteWrite } from "../lib/iam/metrics.ts";
import type { Tags } from "../lib/labels.ts";
import { fleetNames, metricsAgent } from "../lib/names.ts";
import type { Settings } from "./settings.ts";

/** Where the fleet's metrics go, and who reads them. */

/** Alerts for every fleet: a rules file of Prometheus. */
const rulesFile = new URL("alert-rules.yaml", import.meta.url);

/** Tells of every Spoke that runs a Kubernetes minor whose standard support ends within {@link supportWarningDays}, or has ended. */
const supportRule = ({ minor, supportEnds }: KubernetesRelease) => ({
  alert: "KubernetesSupportEnds",
  expr:
    "max by (name, spoke_environment, spoke_tenant, kubernetes_version) " +
    `(fleet_spoke_info{job="kube-state-metrics", kubernetes_version="${minor}"}) ` +
    `and on () (vector(time()) > ${Date.parse(supportEnds) / 1000 - supportWarningDays * 86_400})`,
  for: "1h",
  labels: { severity: "warning" },
  annotations: {
    runbook: "docs/guides/alerts.md#kubernetessupportends",
    summary:
      `Spoke {{ $labels.name }} of {{ $labels.spoke_tenant }} ({{ $labels.spoke_environment }}) runs Kubernetes ${minor}, ` +
      `which EKS supports until ${supportEnds}`,
  },
});

/** The rules of the fleet's workspace, as a rules file of Prometheus. @param releases the minors whose end is told */
export function alertRules(releases = kubernetesReleases): string {
  // JSON is YAML: one more group in the file's list, without a parser that every start of the program would load.
  const group = JSON.stringify({ name: "kubernetes", rules: releases.map(supportRule) });
  return `${readFileSync(rulesFile, "utf8").trimEnd()}\n  - ${group}\n`;
}

/** The fleet's workspace of Amazon Managed Service for Prometheus; undefined where the stack has none. */
export function metricsWorkspaceArgs(
  { fleet, metrics, metricsAlertTopicArn, protect }: Settings,
  tags: Tags,
): MetricsWorkspaceArgs | undefined {
  if (metrics === "none") return undefined;
  return {
    alias: fleet,
    rules: { fleet: alertRules() },
    alertTopicArn: metricsAlertTopicArn || undefined,
    tags,
    protect,
  };
}

/** The fleet's workspace of Amazon Managed Grafana; undefined where the stack has none. */
export function grafanaWorkspaceArgs(settings: Settings, workspace: MetricsWorkspace | undefined, tags: Tags) {
  const { fleet, grafana, grafanaAuthentication, grafanaAdminGroups, permissionsBoundary, protect } = settings;
  if (grafana === "none" || workspace === undefined) return undefined;
  return {
    metricsWorkspaceArn: workspace.arn,
    workspaceName: fleet,
    description: `Metrics of fleet ${fleet}`,
    authentication: grafanaAuthentication,
    adminGroups: grafanaAdminGroups,
    roleName: fleetNames(fleet).grafanaRole,
    permissionsBoundary: permissionsBoundary || undefined,
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
