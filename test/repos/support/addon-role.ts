import { type AddonRole, addonRoles } from "../../../functions/spoke/addon-roles.ts";
import * as fixtures from "../../functions/spoke/support/fixtures.ts";
import { rolePatches } from "../../support/addon-catalogue.ts";
import { allowed } from "../../support/iam.ts";
import type { Context } from "../../support/iam-evaluator.ts";

/** What an add-on may do on the spoke blue. */
export function roleOn(addon: string): AddonRole {
  const input = fixtures.settings({ addons: { [addon]: rolePatches[addon]?.[0]?.value } });
  const [role] = addonRoles({ spoke: fixtures.spoke({ addons: [addon] }), hub: fixtures.hub, settings: input });
  if (role === undefined) throw new Error(`${addon} has no role`);
  return role;
}

/** An ARN in the tests' account and region. */
export const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:us-east-1:000000000000:${resource}`;

/** Whether the policy of an add-on's role on the spoke blue allows a call. */
export function rightsOf(addon: string) {
  const { policy } = roleOn(addon);
  return (action: string, resource: string, context: Context = {}): boolean =>
    allowed(policy, { action, resource, context });
}
