import type { Problem } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

/** A topic for alerts needs a workspace that evaluates them. */
function alertTopicRule({ metrics, metricsAlertTopicArn }: Readable): Problem[] {
  if (metrics !== "none" || !metricsAlertTopicArn) return [];
  return [
    {
      key: "metricsAlertTopicArn",
      what: "has no effect without a workspace that evaluates alerts",
      got: metricsAlertTopicArn,
      allowed: "empty, or metrics amp",
      remedy: "pulumi config set metrics amp, or remove metricsAlertTopicArn",
    },
  ];
}

/** Quotas are the limits of an alert. */
function quotaRule({ metrics, serviceQuotas = {} }: Readable): Problem[] {
  if (metrics !== "none" || Object.keys(serviceQuotas).length === 0) return [];
  return [
    {
      key: "serviceQuotas",
      what: "has no effect without a workspace that evaluates alerts",
      got: JSON.stringify(serviceQuotas),
      allowed: "empty, or metrics amp",
      remedy: "pulumi config set metrics amp, or pulumi config rm serviceQuotas",
    },
  ];
}

/** Grafana shows the fleet's metrics. */
function grafanaRule({ metrics, grafana }: Readable): Problem[] {
  if (metrics !== "none" || grafana !== "amg") return [];
  return [
    {
      key: "grafana",
      what: "has no metrics to show",
      got: "grafana amg with metrics none",
      allowed: "grafana none, or metrics amp",
      remedy: "pulumi config set metrics amp, or pulumi config set grafana none",
    },
  ];
}

/** Only IAM Identity Center has groups for a workspace to name, and only a workspace names them. */
function grafanaAdminRule({ grafana, grafanaAuthentication, grafanaAdminGroups = [] }: Readable): Problem[] {
  const groups = { key: "grafanaAdminGroups", got: grafanaAdminGroups.join(", ") };
  if (grafanaAdminGroups.length === 0) return [];
  if (grafana === "none")
    return [
      {
        ...groups,
        what: "has no effect without Grafana",
        allowed: "an empty list, or grafana amg",
        remedy: "pulumi config set grafana amg, or remove grafanaAdminGroups",
      },
    ];
  if (grafanaAuthentication !== "SAML") return [];
  return [
    {
      ...groups,
      what: "names groups of IAM Identity Center, by which nobody signs in",
      allowed: "an empty list, or grafanaAuthentication AWS_SSO",
      remedy: "remove grafanaAdminGroups, and have the SAML identity provider say who administers Grafana",
    },
  ];
}

/** The rules of metrics, and of Grafana over them. */
export const metricsRules = (settings: Readable): Problem[] => [
  ...alertTopicRule(settings),
  ...quotaRule(settings),
  ...grafanaRule(settings),
  ...grafanaAdminRule(settings),
];
