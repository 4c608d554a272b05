import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { AddonPermission } from "../../lib/iam/addons.ts";
import type { Statement } from "../../lib/iam/policy.ts";

/** The add-ons of spokes as their folders in repos/ have them. */

export const catalogue = join(import.meta.dirname, "..", "..", "repos", "gitops-system", "tools", "base", "addons");

export const addons: readonly string[] = readdirSync(catalogue).sort();

/** Those that an environment offers. */
export const offeredIn = (environment: string): string[] =>
  addons.filter((addon) => existsSync(join(catalogue, "..", "..", "..", "tools", environment, addon)));

/** What an add-on says of its role in role/role.yaml. */
export interface RoleInGit {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly policy: readonly Statement[];
}

/** The JSON patches with which add-ons enter the Composition, by add-on. */
export const rolePatches: Readonly<Record<string, { op: string; path: string; value: RoleInGit }[]>> =
  Object.fromEntries(
    addons
      .map((addon) => [addon, join(catalogue, addon, "role", "role.yaml")] as const)
      .filter(([, file]) => existsSync(file))
      .map(([addon, file]) => [addon, parse(readFileSync(file, "utf8"))]),
  );

/** What stands for the facts of spokes in what a stack permits. */
const anySpoke = (resource: string, partition: string, rolePath: string, workspace: string): string =>
  resource
    // The page of karpenter: what narrows its calls of EC2 is the role.
    .replace(/^.*:ec2:\{aws_region\}:.*$/, "*")
    // That of velero: a wildcard at the end of a bucket's name is what is in it, too.
    .replace(/(:s3:::.*)\{aws_account_id\}(\/\*)?$/, "$1*")
    .replace("{aws_partition}", partition)
    .replace("{aws_role_path}", rolePath)
    .replace("{metrics_workspace_arn}", workspace)
    .replaceAll(/\{aws_(region|account_id)\}/g, "*")
    .replaceAll(/\{(aws_cluster_name|node_role_name)\}/g, "fleet-spoke-*");

/** What the pages of the add-ons, and docs/guides/add-ons.md, say may stand for several calls. */
const briefly = (action: string): string =>
  action
    .replace(/^(ec2|elasticloadbalancing):Describe.*/, "$1:Describe*")
    .replace(/^(dynamodb|sqs):.*/, "$1:*")
    .replace(/^route53:List.*/, "route53:List*")
    .replace(/^s3:(Get|Put|Delete)Object$/, "s3:*Object")
    .replace(/^s3:.*Multipart.*/, "s3:*Multipart*");

/** What a stack has to permit for all of them: the actions by the resources that they are permitted on. */
export function addonPermissions(partition = "aws", rolePath = "/"): AddonPermission[] {
  const workspace = `arn:${partition}:aps:us-east-1:000000000000:workspace/ws-${"0".repeat(36)}`;
  const byResources = new Map<string, Set<string>>();
  for (const { Action, Resource = [] } of Object.values(rolePatches).flatMap(([patch]) => patch?.value.policy ?? [])) {
    const resources = [
      ...new Set([Resource].flat().map((resource) => anySpoke(resource, partition, rolePath, workspace))),
    ];
    const actions = byResources.get(resources.join(" ")) ?? new Set();
    for (const action of [Action].flat()) actions.add(briefly(action));
    byResources.set(resources.join(" "), actions);
  }
  return [...byResources].map(([resources, actions]) => ({ actions: [...actions], resources: resources.split(" ") }));
}
