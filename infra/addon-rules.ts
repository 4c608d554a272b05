import {
  type AddonPermission,
  addonBoundary,
  addonIamActions,
  isAddonAction,
  reachesOthersIam,
} from "../lib/iam/addons.ts";
import { remoteWrite } from "../lib/iam/metrics.ts";
import { arns, noPath, policyLimits, policyText } from "../lib/iam/policy.ts";
import { type Problem, shown } from "../lib/problems.ts";
import type { Readable } from "./settings.ts";

/** The longest that any region and account make a boundary. */
export const longestScope = { partition: "aws-us-gov", accountId: "000000000000", region: "ap-southeast-1" };

/** What a workspace for metrics adds (infra/metrics.ts). */
const ofMetrics = remoteWrite(arns(longestScope).metricsWorkspace(`ws-${"0".repeat(36)}`));

/** What a stack permits add-ons: its own list, and writing metrics. */
export const permittedIn = ({ addonPermissions = [], metrics }: Readable): readonly AddonPermission[] =>
  metrics === "amp" ? [...addonPermissions, ofMetrics] : addonPermissions;

/** What add-ons are permitted gives nobody other rights, and fits into a policy. */
export function addonRules(settings: Readable): Problem[] {
  const { addonPermissions = [], fleet, rolePath = noPath, volumeKeys = [] } = settings;
  const key = "addonPermissions";
  const refused = addonPermissions.flatMap(({ actions }) => actions.filter((action) => !isAddonAction(action)));
  const problems: Problem[] = refused.map((action) => ({
    key,
    what: "has an action that no add-on may have",
    got: shown(action),
    allowed:
      `<service>:<call> with wildcards in the call only; of IAM only ${addonIamActions.join(", ")}; nothing of STS, ` +
      "Organizations, IAM Identity Center and Account Management",
    remedy: "name the calls that the add-on makes, one by one",
  }));
  if (fleet === undefined) return problems;
  for (const { resources } of addonPermissions.filter((permission) => reachesOthersIam(permission, fleet, rolePath)))
    problems.push({
      key,
      what: "passes roles or changes instance profiles that belong to no spoke",
      got: resources.map((resource) => shown(resource)).join(", "),
      allowed:
        `iam:PassRole and changes of instance profiles on resources arn:<partition>:iam::<account>:role${rolePath}${fleet}-spoke-… and ` +
        `arn:<partition>:iam::<account>:instance-profile/karpenter/<region>/${fleet}-spoke-…`,
      remedy:
        "give these calls an entry of their own, with the roles that are passed and the profiles that are changed",
    });
  const { length } = policyText(addonBoundary({ ...longestScope, fleet, volumeKeys }, permittedIn(settings)));
  if (addonPermissions.length > 0 && length > policyLimits.managed)
    problems.push({
      key,
      what: "makes a boundary that is too long for IAM",
      got: `${length} characters`,
      allowed: `at most ${policyLimits.managed} characters without white space`,
      remedy: `put actions on the same resources into one entry${volumeKeys.length > 0 ? ", or name fewer volumeKeys" : ""}`,
    });
  return problems;
}
