import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { compare } from "../product.ts";
import { addonChartsEntry, ensureAddonCharts } from "./addon-charts.ts";
import { type AddonName, addonOf, addonVersion } from "./addons.ts";
import { areComplete, cacheRoot, type Entry } from "./cache.ts";
import {
  areBuilt,
  ensureGoGroup,
  type GoGroup,
  goEntry,
  goNeeded,
  goPackages,
  goWork,
  removeAddonBuild,
} from "./go.ts";
import { GoProgress } from "./go-progress.ts";
import { ensureImage, type Image, imageEntry } from "./images.ts";
import { Reporter } from "./progress.ts";
import { run } from "./run.ts";
import { inTurn, sayTurn } from "./turn.ts";

/** What the toolchain has for add-ons. */
export interface BuiltAddons {
  readonly names: readonly AddonName[];
  /** The images that nodes import besides the toolchain's. */
  readonly images: readonly Image[];
  /** Folder of a chart mirror that has the toolchain's charts too. */
  readonly charts: string;
  /** Programs that the gateway runs on this machine: their paths by name. Absent in what earlier releases noted. */
  readonly programs?: Readonly<Record<string, string>>;
}

const GIB = 1024 ** 3;
/** What a build of all of them takes: module sources, the Go build cache at its peak, programs and images. */
const BUILD_DISK = 6 * GIB;

/**
 * Builds what the cache lacks of add-ons: minutes at the first time, no time later. Like the toolchain it is safe to kill and to
 * call from several processes at once.
 * @param toolchain its helm, and the folder of its chart mirror
 * @param write takes lines of progress; there are none when nothing is lacking
 */
export async function ensureAddons(
  names: readonly AddonName[],
  toolchain: { readonly helm: string; readonly charts: string },
  write: (line: string) => void,
): Promise<BuiltAddons> {
  const root = cacheRoot();
  const charts = await addonChartsEntry(root, toolchain.charts, names);
  if (await isFilled(root, names, charts)) return build(root, names, toolchain, charts, () => {});
  await sayTurn(root, "addons", write);
  return inTurn(root, "addons", () => build(root, names, toolchain, charts, write));
}

const groupsOf = (names: readonly AddonName[]): GoGroup[] => [...new Set(names.map((name) => addonOf(name).group))];

/** Images of an add-on by their repositories, each with its place in the cache. */
async function imagesOf(root: string, name: AddonName) {
  const { group, images } = addonOf(name);
  const { key } = await goEntry(root, group);
  const entries = Object.entries(images).map(async ([repository, image]) => {
    const imageName = repository.split("/").at(-1) ?? repository;
    return {
      name: imageName,
      reference: `${repository}:${addonVersion(name)}`,
      recipe: { group, ...image },
      entry: await imageEntry(root, imageName, key, "addons.ts"),
    };
  });
  return Promise.all(entries);
}

async function isFilled(root: string, names: readonly AddonName[], charts: Entry): Promise<boolean> {
  const images = (await Promise.all(names.map((name) => imagesOf(root, name)))).flat();
  return (await areBuilt(root, groupsOf(names))) && areComplete([charts, ...images.map(({ entry }) => entry)]);
}

async function build(
  root: string,
  names: readonly AddonName[],
  { helm, charts: mirror }: { readonly helm: string; readonly charts: string },
  chartsEntry: Entry,
  write: (line: string) => void,
): Promise<BuiltAddons> {
  const groups = groupsOf(names);
  if (!(await areBuilt(root, groups))) await expectMachine(root, names, groups);
  const report = new Reporter(groups.length + 3, write);
  const packages = await report.part("downloads", (say) =>
    Promise.all(groups.map(async (group) => [group, await goPackages(root, group, say)] as const)),
  );
  const progress = new GoProgress(packages.flatMap(([group, list]) => goWork(group, list)));
  const programs = new Map<GoGroup, string>();
  for (const [group, list] of packages)
    programs.set(
      group,
      await report.part(`Go programs (${group.name})`, (say) => ensureGoGroup(root, group, list, progress, say)),
    );
  if (packages.some(([, list]) => list.length > 0)) await removeAddonBuild(root);
  const images = await report.part("images", async (say) => {
    const made: Image[] = [];
    for (const { name, reference, recipe, entry } of (
      await Promise.all(names.map((one) => imagesOf(root, one)))
    ).flat())
      made.push({
        name,
        reference,
        tar: await ensureImage(entry, reference, recipe, programs.get(recipe.group) ?? "", () => say(reference)),
      });
    return made;
  });
  const charts = await report.part("charts", (say) => ensureAddonCharts(chartsEntry, mirror, names, helm, say));
  const onMachine = names.flatMap((name) => {
    const { group, onMachine: own = [] } = addonOf(name);
    return own.map((program) => [program, join(programs.get(group) ?? "", program)] as const);
  });
  return { names, images, charts, programs: Object.fromEntries(onMachine) };
}

/** @throws when the machine can't build them */
async function expectMachine(root: string, names: readonly AddonName[], groups: readonly GoGroup[]): Promise<void> {
  const [least, what] = [goNeeded(groups), `the add-ons ${names.join(", ")}`];
  const found = await run(["go", "env", "GOVERSION"]).catch(() => undefined);
  if (found === undefined || compare(found, least) < 0)
    throw new Error(
      `${what} are built with Go ${least} or newer, found ${found?.trim() ?? "none"}: install it and put it first on PATH`,
    );
  const { bavail, bsize } = await statfs(root);
  const free = bavail * bsize;
  if (free < BUILD_DISK)
    throw new Error(
      `${what} take ${BUILD_DISK / GIB} GiB of disk under ${root} while they are built, ${(free / GIB).toFixed(1)} GiB are free: make room, or name another folder with FLEET_CACHE_DIR`,
    );
}
