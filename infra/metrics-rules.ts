import type { Problem } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

/** A topic for alerts needs a workspace that evaluates them. */
export function metricsRule({ metrics, metricsAlertTopicArn }: Readable): Problem[] {
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
