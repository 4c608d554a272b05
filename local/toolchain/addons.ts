import { type Addon, addons, type StandInAddon } from "./addon-table.ts";
import type { GoGroup } from "./go-groups.ts";
import { versionOf } from "./go-mod.ts";

export type AddonName = keyof typeof addons;

export const addonNames = Object.keys(addons) as readonly AddonName[];

export const addonOf = (name: AddonName): Addon => addons[name];

export const isStandIn = (addon: Addon): addon is StandInAddon => "standIn" in addon;

/** The version of an add-on's program, with its v. */
export function addonVersion(name: AddonName): string {
  const addon = addonOf(name);
  if (isStandIn(addon)) return `v${addon.chart.version}`;
  const { group, module, release } = addon;
  const version = versionOf(group.mod, module);
  return release?.(version) ?? version;
}

/** All groups that build an add-on's programs. */
export function groupsOf(name: AddonName): GoGroup[] {
  const addon = addonOf(name);
  if (isStandIn(addon)) return [];
  return [...new Set([addon.group, ...Object.values(addon.images).flatMap(({ other }) => other?.group ?? [])])];
}

/** References of an add-on's images. */
export function addonImages(name: AddonName): string[] {
  const addon = addonOf(name);
  if (isStandIn(addon)) return [`${addon.image}:${addon.chart.version}`];
  return Object.entries(addon.images).map(
    ([repository, image]) => `${repository}:${image.other?.tag ?? addonVersion(name)}`,
  );
}

/** The add-ons of these names, each once and in the order of the table. @throws with what is allowed */
export function readAddonNames(names: readonly string[]): AddonName[] {
  const unknown = names.filter((name) => !addonNames.some((known) => known === name));
  if (unknown.length > 0)
    throw new Error(
      `unknown add-on ${unknown.map((name) => JSON.stringify(name)).join(", ")}: allowed are ${addonNames.join(", ")}, separated by commas`,
    );
  return addonNames.filter((name) => names.includes(name));
}
