import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { compare } from "../product.ts";
import { addonChartsEntry, ensureAddonCharts } from "./addon-charts.ts";
import { type AddonName, addonOf, addonVersion, groupsOf, isStandIn } from "./addons.ts";
import { areComplete, cacheRoot, type Entry } from "./cache.ts";
import { areBuilt, ensureGoGroup, goEntry, goPackages, goWork, moduleDir, removeAddonBuild } from "./go.ts";
import { argocdGroup, type GoGroup, goNeeded } from "./go-groups.ts";
import { GoProgress } from "./go-progress.ts";
import { ensureImage, type Image, imageEntry } from "./images.ts";
import { Reporter } from "./progress.ts";
import { run } from "./run.ts";
import { standInImage } from "./stand-ins.ts";
import { inTurn, sayTurn } from "./turn.ts";

/** What the toolchain has for add-ons. */
export interface BuiltAddons {
  readonly names: readonly AddonName[];
  /** The images that nodes import besides the toolchain's. */
  readonly images: readonly Image[];
  /** Folder of a chart mirror that has the toolchain's charts too. */
  readonly charts: string;
  /** Programs that the gateway runs on this machine: their paths by name. */
  readonly programs: Readonly<Record<string, string>>;
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

/**
 * Builds an add-on's program for use on this machine, unless it is there already, without images and charts.
 * @param program such as `promtool` @throws with what is allowed for any other
 * @returns its path
 */
export async function ensureAddonProgram(
  name: AddonName,
  program: string,
  write: (line: string) => void,
): Promise<string> {
  const groups = groupsOf(name);
  const group = groups.find(({ programs }) => programs.includes(program));
  if (group === undefined)
    throw new Error(
      `the add-on ${name} has no program ${JSON.stringify(program)}: it has ${groups.flatMap(({ programs }) => programs).join(", ")}`,
    );
  return join(await ensurePrograms(`the programs of ${name}`, group, write), program);
}

/** Argo CD for use on this machine. */
export interface BuiltArgocd {
  /** Folder of the programs: argocd, which is each of Argo CD's by the name under which it is called, argocd-redis and kustomize. */
  readonly programs: string;
  /** Folder of its CustomResourceDefinitions. */
  readonly definitions: string;
}

/** Builds Argo CD's programs, unless they are there already. Nothing of it is part of a cluster. */
export async function ensureArgocd(write: (line: string) => void): Promise<BuiltArgocd> {
  const programs = await ensurePrograms("the programs of Argo CD", argocdGroup, write);
  return { programs, definitions: join(moduleDir("github.com/argoproj/argo-cd/v3"), "manifests", "crds") };
}

/** @returns the folder of the group's programs */
async function ensurePrograms(what: string, group: GoGroup, write: (line: string) => void): Promise<string> {
  const root = cacheRoot();
  const ensure = async (report: (line: string) => void) =>
    (await buildPrograms(root, what, [group], new Reporter(2, report))).get(group) ?? "";
  if (await areBuilt(root, [group])) return ensure(() => {});
  await sayTurn(root, "addons", write);
  return inTurn(root, "addons", () => ensure(write));
}

const allGroups = (names: readonly AddonName[]): GoGroup[] => [...new Set(names.flatMap(groupsOf))];

/** An image with its place in the cache. */
interface Wanted {
  readonly name: string;
  readonly reference: string;
  readonly entry: Entry;
  /** Makes it unless it is there, and returns its archive. @param programs the folder of each group's programs */
  make(programs: ReadonlyMap<GoGroup, string>, begins: () => void): Promise<string>;
}

async function imagesOf(root: string, name: AddonName): Promise<Wanted[]> {
  const addon = addonOf(name);
  if (isStandIn(addon)) return [await standInImage(root, addon, addonVersion(name))];
  const entries = Object.entries(addon.images).map(async ([repository, { other, ...image }]): Promise<Wanted> => {
    const imageName = repository.split("/").at(-1) ?? repository;
    const reference = `${repository}:${other?.tag ?? addonVersion(name)}`;
    const recipe = { group: other?.group ?? addon.group, ...image };
    const entry = await imageEntry(root, imageName, (await goEntry(root, recipe.group)).key, "addons.ts");
    return {
      ...{ name: imageName, reference, entry },
      make: (programs, begins) => ensureImage(entry, reference, recipe, programs.get(recipe.group) ?? "", begins),
    };
  });
  return Promise.all(entries);
}

async function isFilled(root: string, names: readonly AddonName[], charts: Entry): Promise<boolean> {
  const images = (await Promise.all(names.map((name) => imagesOf(root, name)))).flat();
  return (await areBuilt(root, allGroups(names))) && areComplete([charts, ...images.map(({ entry }) => entry)]);
}

async function build(
  root: string,
  names: readonly AddonName[],
  { helm, charts: mirror }: { readonly helm: string; readonly charts: string },
  chartsEntry: Entry,
  write: (line: string) => void,
): Promise<BuiltAddons> {
  const groups = allGroups(names);
  const report = new Reporter(groups.length + 3, write);
  const programs = await buildPrograms(root, `the add-ons ${names.join(", ")}`, groups, report);
  const images = await report.part("images", async (say) => {
    const made: Image[] = [];
    for (const { name, reference, make } of (await Promise.all(names.map((one) => imagesOf(root, one)))).flat())
      made.push({ name, reference, tar: await make(programs, () => say(reference)) });
    return made;
  });
  const charts = await report.part("charts", (say) => ensureAddonCharts(chartsEntry, mirror, names, helm, say));
  const onMachine = names.flatMap((name) => {
    const addon = addonOf(name);
    if (isStandIn(addon)) return [];
    const { group, onMachine: own = [] } = addon;
    return own.map((program) => [program, join(programs.get(group) ?? "", program)] as const);
  });
  return { names, images, charts, programs: Object.fromEntries(onMachine) };
}

/** @returns the folder of each group's programs */
async function buildPrograms(
  root: string,
  what: string,
  groups: readonly GoGroup[],
  report: Reporter,
): Promise<Map<GoGroup, string>> {
  if (!(await areBuilt(root, groups))) await expectMachine(root, what, groups);
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
  return programs;
}

/** @throws when the machine can't build them */
async function expectMachine(root: string, what: string, groups: readonly GoGroup[]): Promise<void> {
  const least = goNeeded(groups);
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
