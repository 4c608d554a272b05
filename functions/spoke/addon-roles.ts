import type { PolicyDocument } from "../../lib/iam/policy.ts";
import type { ServiceAccountRef } from "../../lib/iam/trust.ts";
import type { Spoke } from "./api.ts";
import type { Hub } from "./hub.ts";
import { isElsewhere } from "./places.ts";
import type { SpokeProblem } from "./problems.ts";
import type { Settings } from "./settings.ts";
import { surroundingsOf } from "./surroundings.ts";

/** Add-ons of spokes that act in AWS: what their folders in Git say of their roles (tools/base/addons/<name>/role). */

/** The role of an add-on on one spoke, by the add-on's name in snake_case. */
export interface AddonRole {
  readonly addon: string;
  readonly subject: ServiceAccountRef;
  readonly policy: PolicyDocument;
}

/** What the roles of a Spoke's add-ons follow from. */
interface Question {
  readonly spoke: Spoke;
  readonly hub: Hub;
  readonly settings: Settings;
}

type Facts = Readonly<Record<string, string>>;

/** What a policy in Git may say `{key}` for: keys of the bridge that are known before anything of the spoke is there. */
function factsOf({ spoke, hub }: Question): Facts {
  const { metadata, spec } = spoke;
  const { names, scope } = surroundingsOf(spoke, hub);
  return {
    cluster_name: metadata.name,
    environment: spec.environment,
    tenant: spec.tenant,
    fleet: hub.fleet,
    aws_cluster_name: names.cluster,
    node_role_name: names.nodeRole,
    aws_account_id: scope.accountId,
    aws_region: scope.region,
    aws_partition: scope.partition,
    aws_role_path: hub.aws.rolePath,
    metrics_workspace_arn: hub.metricsWorkspaceArn,
  };
}

/** `{key}`. Flux substitutes `${key}`, and knows the hub only; of IAM are `${aws:username}` and the like. */
const variable = /(?<!\$)\{([a-z][a-z0-9_]*)\}/g;

const filled = <T>(value: T, facts: Facts): T =>
  JSON.parse(
    JSON.stringify(value).replaceAll(variable, (text, key: string) =>
      Object.hasOwn(facts, key) ? (facts[key] as string) : text,
    ),
  ) as T;

const variablesOf = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(variable)].map(([, key = ""]) => key);

/** The enabled add-ons that have a role. */
const enabled = ({ spoke, settings }: Question) =>
  [...spoke.spec.addons].sort().flatMap((addon) => {
    const needs = Object.hasOwn(settings.addons, addon) ? settings.addons[addon] : undefined;
    return needs === undefined ? [] : [{ addon, ...needs }];
  });

export function addonRoles(question: Question): AddonRole[] {
  const facts = factsOf(question);
  return enabled(question).map(({ addon, namespace, serviceAccount, policy }) => ({
    addon,
    subject: { namespace, serviceAccount },
    policy: filled({ Version: "2012-10-17", Statement: policy }, facts),
  }));
}

/** Whether an add-on writes or reads metrics: the fleet's workspace is in the hub's account. */
const usesWorkspace = (policy: unknown): boolean => variablesOf(policy).includes("metrics_workspace_arn");

/** Why the roles of a Spoke's add-ons can't be made. */
export function addonProblems(question: Question): SpokeProblem[] {
  const { spoke, hub } = question;
  const wanted = enabled(question);
  const facts = factsOf(question);
  const unknown = wanted.flatMap(({ addon, policy }) =>
    variablesOf(policy)
      .filter((key) => !Object.hasOwn(facts, key))
      .map((key) => ({
        reason: "AddonRoleInvalid",
        message: `the policy of add-on ${addon} in the Composition names {${key}}: allowed are ${Object.keys(facts).join(", ")}`,
      })),
  );
  const ofMetrics = wanted.filter(({ policy }) => usesWorkspace(policy));
  const elsewhere = isElsewhere(spoke, hub);
  const silent = hub.metricsWorkspaceArn === "" ? ofMetrics : [];
  const apart = elsewhere && hub.metricsWorkspaceArn !== "" ? ofMetrics : [];
  const others = wanted.filter((addon) => ![...silent, ...apart].includes(addon));
  const reasons: [addons: typeof wanted, why: string][] = [
    [
      apart,
      ": the fleet's workspace for metrics is in the hub's account, and admits no roles of others. Take them out of spec.addons, or remove this " +
        "Spoke and add it again without spec.account",
    ],
    [
      silent,
      ": the fleet has no workspace for metrics. Set metrics to amp in the stack and run pulumi up, or turn the add-on off in spec.addons",
    ],
    [
      // What the boundary of another account permits, its own stack says and AWS decides.
      elsewhere || hub.addonBoundaryArn !== "" ? [] : others,
      " act in AWS, and the hub permits add-ons nothing: name what they may do in addonPermissions of the stack and run pulumi up, " +
        "or take them out of spec.addons",
    ],
  ];
  const refused = reasons
    .filter(([addons]) => addons.length > 0)
    .map(([addons, why]) => ({ reason: "AddonsNotPermitted", message: `${namesOf(addons)}${why}` }));
  return [...unknown, ...refused];
}

const namesOf = (addons: readonly { readonly addon: string }[]): string =>
  `spec.addons ${addons.map(({ addon }) => addon).join(", ")}`;
