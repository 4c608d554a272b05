import * as pulumi from "@pulumi/pulumi";
import { userError } from "../../components/user-error.ts";
import { noPath, partitionOf } from "../../lib/iam/policy.ts";
import { describeProblems, type Problem } from "../../lib/problems.ts";
import { allowedAccounts, regionList, secretsKeyArn } from "../account-keys.ts";
import { placeLengthRules } from "../account-rules.ts";
import { addonPermissionList } from "../addon-keys.ts";
import { addonRules } from "../addon-rules.ts";
import { denialLengthRules, ownBoundaryRule } from "../boundary-rules.ts";
import { type RawConfig, readKey, readKeys } from "../config.ts";
import { type Key, setCommandOf } from "../forms.ts";
import { fleetNameRule } from "../rules.ts";
import { keys as hubKeys } from "../settings.ts";
import { tagRules } from "../tag-rules.ts";
import { hubOf } from "./places.ts";

/** The keys of an account's stack, as Pulumi.yaml beside this file describes them. Those that the hub has too are read as the hub's. */
const keys = {
  fleet: hubKeys.fleet,
  secretsKeyArn,
  regions: regionList,
  addonPermissions: addonPermissionList,
  permissionsBoundary: hubKeys.permissionsBoundary,
  rolePath: hubKeys.rolePath,
  boundaryStatements: hubKeys.boundaryStatements,
  tags: hubKeys.tags,
} as const;

type Name = keyof typeof keys;
type Settings = { readonly [K in Name]: (typeof keys)[K] extends Key<infer T> ? T : never };

/** With the credentials of a wrong account, Crossplane would get its rights there. */
function accountRule(raw: RawConfig): Problem[] {
  const name = "allowedAccountIds";
  const { problem, value = [] } = readKey({ ...raw, project: "aws" }, name, allowedAccounts);
  if (problem === undefined && value.length > 0) return [];
  const { allowed } = allowedAccounts;
  const found = problem ?? { what: "is empty", got: "[]", allowed };
  return [{ ...found, key: `aws:${name}`, remedy: setCommandOf(`aws:${name}`, allowedAccounts) }];
}

/** The lengths follow from regions and key; of the account's own ID only the number of digits counts. */
function lengthRules(settings: Partial<Settings>): Problem[] {
  const {
    fleet,
    secretsKeyArn: keyArn,
    regions,
    addonPermissions = [],
    boundaryStatements,
    rolePath = noPath,
  } = settings;
  if (fleet === undefined || keyArn === undefined || regions === undefined) return [];
  const secretsOf = hubOf(keyArn);
  const [region = secretsOf.region, ...otherRegions] = regions;
  const scope = { partition: partitionOf(region), accountId: "0".repeat(12), rolePath, region, otherRegions };
  return [
    ...placeLengthRules("regions", { fleet, scope, secretsOf }),
    ...denialLengthRules({ fleet, scope, secretsOf, addonPermissions }, boundaryStatements),
  ];
}

/** Reads and checks all keys; the settings are complete if there are no problems. */
export function readAccountConfig(raw: RawConfig): { settings: Partial<Settings>; problems: readonly Problem[] } {
  const { values: settings, problems } = readKeys(raw, keys);
  const known = Object.keys(raw.values).filter((key) => key.startsWith(`${raw.project}:`));
  const unknown = known
    .map((key) => key.slice(raw.project.length + 1))
    .filter((name) => !Object.hasOwn(keys, name))
    .map((name) => ({
      key: name,
      what: "is not a key of this project",
      got: name,
      allowed: Object.keys(keys).join(", "),
      remedy: `pulumi config rm ${name}`,
    }));
  return {
    settings,
    problems: [
      ...unknown,
      ...accountRule(raw),
      ...problems,
      ...fleetNameRule(settings),
      ...addonRules(settings),
      ...lengthRules(settings),
      ...ownBoundaryRule(settings),
      ...tagRules(settings),
    ],
  };
}

/**
 * The settings of the account's stack.
 * @throws a user error that lists every problem, before any resource is registered.
 */
export function loadAccountSettings(): Settings {
  const project = pulumi.getProject();
  const { settings, problems } = readAccountConfig({
    project,
    values: pulumi.runtime.allConfig(),
    isSecret: () => false,
    region: undefined,
  });
  if (problems.length === 0) return settings as Settings;
  throw userError(describeProblems(`the configuration of stack ${pulumi.getStack()}`, problems));
}
