import { paginateListRoles } from "@aws-sdk/client-iam";
import type { Account } from "../../support/inventory.ts";

/** ARNs of the roles whose names begin with the prefix and that have another path. */
export async function rolesElsewhere({ iam }: Account, prefix: string, path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { Roles = [] } of paginateListRoles({ client: iam }, {}))
    for (const { RoleName = "", Path, Arn = "" } of Roles)
      if (RoleName.startsWith(prefix) && Path !== path) found.push(Arn);
  return found;
}
