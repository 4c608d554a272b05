import { isDeepStrictEqual } from "node:util";
import { notePrepared, preparedAddons, refreshNodes } from "../clusters/index.ts";
import { type Instance, instanceAt } from "../instance/index.ts";
import { shareRoot } from "../instance/mounts.ts";
import { publishCharts, publishImages } from "../registry/index.ts";
import {
  type AddonName,
  type BuiltAddons,
  ensureAddons,
  ensureToolchain,
  readAddonNames,
  type Toolchain,
} from "../toolchain/index.ts";
import { choicesOf } from "./choices.ts";
import type { LocalFleet } from "./fleet.ts";
import { mirroredImages } from "./mirrors.ts";
import type { Step } from "./steps.ts";

/**
 * Makes add-ons that are off by default ready for an instance's clusters: builds what is lacking (minutes at the first time), puts their charts
 * into the mirror and their images on the nodes of all clusters, those that run and those that come later. It doesn't install them; Git does.
 * They stay ready as long as the instance. Idempotent: a second call does nothing.
 * @param names such as `external_dns` @throws with what is allowed for any other
 */
export async function prepareAddons(
  instance: Instance,
  names: readonly string[],
  report: (detail: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<void> {
  const wanted = readAddonNames(names);
  await prepare(instance, await ensureToolchain(() => {}), wanted, report);
}

async function prepare(
  instance: Instance,
  toolchain: Toolchain,
  names: readonly AddonName[],
  report: (detail: string) => void,
): Promise<void> {
  const present = await preparedAddons(instance);
  const wanted = readAddonNames([...names, ...(present?.names ?? [])]);
  // node-exporter follows the mounts of its node.
  if (wanted.includes("prometheus")) await shareRoot();
  const built = await ensureAddons(wanted, { helm: toolchain.bin("helm"), charts: toolchain.charts }, report);
  if (!isDeepStrictEqual(built, present)) {
    await publish(instance, toolchain, built);
    // Before the nodes are looked at: one that starts meanwhile reads it.
    await notePrepared(instance, built);
  }
  const refreshed = await refreshNodes(instance);
  if (refreshed.length > 0) report(`images of ${wanted.join(", ")} on ${refreshed.join(", ")}`);
}

/** Pushes what clusters take from the registry, if they take anything. */
async function publish(
  instance: Instance,
  toolchain: Toolchain,
  { charts: folder, images }: BuiltAddons,
): Promise<void> {
  const { charts } = await choicesOf(instance);
  if (charts === "private") await publishImages(instance, toolchain.bin("crane"), mirroredImages(images));
  if (charts !== "https") await publishCharts(instance, toolchain.bin("helm"), folder);
}

/** The step for the add-ons that are asked for and those of an earlier start; none where there are neither. */
export async function addonSteps(dir: string, names: readonly AddonName[]): Promise<Step<LocalFleet>[]> {
  // Its index doesn't matter for where its files are.
  const present = await preparedAddons(instanceAt(dir, 0));
  const wanted = readAddonNames([...names, ...(present?.names ?? [])]);
  if (wanted.length === 0) return [];
  return [
    {
      name: `prepare the add-ons ${wanted.join(", ")}`,
      run: (fleet, report) => prepare(fleet.instance(), fleet.toolchain(), wanted, report),
    },
  ];
}
