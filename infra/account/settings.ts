import { noPath, partitionOf } from "../../lib/iam/policy.ts";
import type { Problem } from "../../lib/problems.ts";
import { regionList, secretsKeyArn } from "../account-keys.ts";
import { placeLengthRules } from "../account-rules.ts";
import { addonPermissionList } from "../addon-keys.ts";
import { addonRules } from "../addon-rules.ts";
import { denialLengthRules, ownBoundaryRule } from "../boundary-rules.ts";
import type { RawConfig } from "../config.ts";
import { loadOwnSettings, type Read, readOwnKeys, type SettingsOf } from "../own-stack.ts";
import { fleetNameRule } from "../rules.ts";
import { keys as hubKeys } from "../settings.ts";
import { tagRules } from "../tag-rules.ts";
import { volumeKeyRules } from "../volume-keys.ts";
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
  volumeKeys: hubKeys.volumeKeys,
} as const;

type Settings = SettingsOf<typeof keys>;

/** The lengths follow from regions and key; of the account's own ID only the number of digits counts. */
function lengthRules(settings: Partial<Settings>): Problem[] {
  const {
    fleet,
    secretsKeyArn: keyArn,
    regions,
    addonPermissions = [],
    boundaryStatements,
    rolePath = noPath,
    volumeKeys = [],
  } = settings;
  if (fleet === undefined || keyArn === undefined || regions === undefined) return [];
  const secretsOf = hubOf(keyArn);
  const [region = secretsOf.region, ...otherRegions] = regions;
  const scope = { partition: partitionOf(region), accountId: "0".repeat(12), rolePath, region, otherRegions };
  return [
    ...placeLengthRules("regions", { fleet, scope, secretsOf, volumeKeys }),
    ...denialLengthRules({ fleet, scope, secretsOf, addonPermissions, volumeKeys }, boundaryStatements),
  ];
}

/** Reads and checks all keys; the settings are complete if there are no problems. */
export function readAccountConfig(raw: RawConfig): Pick<Read<typeof keys>, "settings" | "problems"> {
  const { settings, problems } = readOwnKeys(raw, keys);
  return {
    settings,
    problems: [
      ...problems,
      ...fleetNameRule(settings),
      ...addonRules(settings),
      ...lengthRules(settings),
      ...ownBoundaryRule(settings),
      ...tagRules(settings),
      ...volumeKeyRules(settings),
    ],
  };
}

export const loadAccountSettings = (): Settings => loadOwnSettings(readAccountConfig);
