import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { noPath } from "../../lib/iam/policy.ts";
import { fleetNames } from "../../lib/names.ts";
import { type AwsConfig, isMissing, untold } from "./aws.ts";
import { type Finding, ok, wrong } from "./finding.ts";
import type { Stack } from "./stack.ts";

const name = "rolePath";

/** Whether the hub's roles have the path that the stack names: IAM can't move a role, and takes no second one of the same name. */
export async function checkRolePath({ settings, region }: Stack, config: AwsConfig): Promise<Finding[]> {
  const { fleet, rolePath = noPath } = settings;
  if (fleet === undefined || region === undefined) return [];
  const RoleName = fleetNames(fleet).clusterRole;
  try {
    const { Role } = await new IAMClient({ ...config, region }).send(new GetRoleCommand({ RoleName }));
    const { Path: path = noPath } = Role ?? {};
    if (path === rolePath) return [ok(name, path)];
    return [
      wrong(
        name,
        `is ${rolePath}, but the role ${RoleName} has the path ${path}, which IAM can't change`,
        `pulumi config set ${name} ${path}; a fleet gets another path with another name`,
      ),
    ];
  } catch (error) {
    if (isMissing(error)) return [ok(name, `${rolePath}; the hub has no roles yet`)];
    return [untold(name, error, "iam:GetRole")];
  }
}
