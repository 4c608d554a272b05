import type { AddonPermission } from "../lib/iam/addons.ts";
import { listOf } from "./forms.ts";

const texts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string" && each !== "");

function addonPermission(value: unknown): AddonPermission | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { actions, resources = ["*"], ...unknown } = value as Record<string, unknown>;
  return texts(actions) && texts(resources) && Object.keys(unknown).length === 0 ? { actions, resources } : undefined;
}

export const addonPermissionList = listOf(addonPermission, {
  allowed: "a list of {actions: [<IAM action>, …], resources: [<ARN>, …]}, without resources all of them",
  path: "[0].actions[0]",
  example: "route53:ListHostedZones",
});
