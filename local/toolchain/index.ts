import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureOwned, removeOwned } from "../instance/folder.ts";
import { listInstances } from "../instance/instance.ts";
import { type Offer, offerIn, takeArchive } from "./archive.ts";
import { areComplete, CACHE_FOLDER, cacheRoot, type Entry } from "./cache.ts";
import { chartsEntry, ensureCharts } from "./charts.ts";
import { areBuilt, ensureGoGroup, goEntry, goPackages, goWork, removeBuildCache } from "./go.ts";
import { type GoGroup, goGroups, mainGroup } from "./go-groups.ts";
import { GoProgress } from "./go-progress.ts";
import { ensureImages, type Image, moduleImageEntries } from "./images.ts";
import { Reporter } from "./progress.ts";
import { ensurePython } from "./python.ts";
import { ensureSystem, SYSTEM_COMMANDS, useSystem } from "./system.ts";
import { inTurn, sayTurn } from "./turn.ts";

export { addons } from "./addon-table.ts";
export { type AddonName, addonImages, addonNames, readAddonNames } from "./addons.ts";
export { offerIn } from "./archive.ts";
export { ensureBrowser } from "./browser.ts";
export { chartVersions } from "./charts.ts";
export { clusterApiManifests } from "./cluster-api.ts";
export { type DefiningModule, definingModules, definitionFolder } from "./definitions.ts";
export { type BuiltAddons, type BuiltArgocd, ensureAddonProgram, ensureAddons, ensureArgocd } from "./ensure-addons.ts";
export { type Image, imageReferences } from "./images.ts";
export { ensurePythonProgram } from "./python.ts";

/** Everything that the local stack runs, built or taken from the distribution's packages, or the machine's own. */
export interface Toolchain {
  /**
   * Absolute path of a program: one of ours (`pulumi`, `kubelet`, `helm`, `etcd`, `kubeseal` …), of the Python environment
   * (`aws`), or of the system (`containerd`, `ctr`, `nft` …). @throws for any other name.
   */
  bin(name: string): string;
  /** Names of all programs that `bin` knows. */
  readonly programs: readonly string[];
  /** The images that nodes import. */
  images(): readonly Image[];
  /** Folder of the chart mirror: a static Helm repository, index.yaml and archives. */
  readonly charts: string;
  /** Folder of the Python environment with ministack and awscli. */
  readonly python: string;
  /** Folder of the system's commands: the first on PATH of programs that call them. */
  readonly system: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
}

/**
 * Builds what is not cached yet and returns where everything is: seconds when all is there, minutes when not. Everything goes
 * to the cache; nothing is installed on the machine. Puts the system's commands first on this process's PATH.
 * Safe to kill and to call from several processes at once: they take turns, and each goes on from what is done.
 * @param write takes lines of progress (default: stderr)
 */
export async function ensureToolchain(
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<Toolchain> {
  const root = cacheRoot();
  await sayTurn(root, "toolchain", write);
  const offer = await offerIn();
  const report = new Reporter(goGroups.length + 3 + (offer ? 1 : 0), write);
  return inTurn(root, "toolchain", () => buildAll(root, offer, report));
}

/** Whether this checkout's Go programs are in the cache: without them a run needs the time and the disk of a build. */
export const isBuilt = (root: string): Promise<boolean> => areBuilt(root, goGroups);

/** The toolchain's helm, for who can do without: undefined while it is not built. */
export async function builtHelm(): Promise<string | undefined> {
  const root = cacheRoot();
  if (!(await areBuilt(root, [mainGroup]))) return undefined;
  const { group, key } = await goEntry(root, mainGroup);
  return join(root, group, key, "helm");
}

/** Whether all that takes Go is in the cache: without it a run needs Go on this machine, or a release. */
export const isFilled = async (root: string): Promise<boolean> => areComplete(await archiveEntries(root));

/** What a release's archive has: all that takes Go, or minutes. */
export async function archiveEntries(root: string): Promise<Entry[]> {
  const images = moduleImageEntries(root, async (group) => (await goEntry(root, group)).key);
  return [
    ...(await Promise.all(goGroups.map((group) => goEntry(root, group)))),
    await chartsEntry(root),
    ...(await images),
  ];
}

/**
 * Only the commands that a machine may lack (`ip`, `nft`, `iptables` …), first on this process's PATH: what removing an
 * instance needs when the rest of the toolchain isn't there any more.
 */
export async function ensureSystemCommands(say: (detail: string) => void): Promise<void> {
  const root = cacheRoot();
  const ensure = async () => {
    await ensureOwned(CACHE_FOLDER, root);
    return ensureSystem(root, say);
  };
  useSystem(await inTurn(root, "toolchain", ensure));
}

/**
 * Removes the cache. @returns its folder, and the names of what stays there because it is not the cache's
 * @throws while an instance is open: its programs run from there
 */
export async function removeCache(): Promise<{ readonly root: string; readonly others: readonly string[] }> {
  const root = cacheRoot();
  const open = (await listInstances()).map(({ dir }) => dir);
  if (open.length > 0)
    fail(`the programs of ${open.join(" and ")} run from ${root}: remove these first (FLEET_LOCAL_DIR=… npm run down)`);
  return { root, others: await inTurn(root, "toolchain", () => removeOwned(CACHE_FOLDER, root)) };
}

/** All that waits for the network, side by side: the system's part and then the Python environment, Go modules. */
async function downloads(root: string, say: (detail: string) => void) {
  const ready = ensureSystem(root, say);
  const [system, python, ...packages] = await Promise.all([
    ready,
    ready.then(({ pip }) => ensurePython(root, pip, say)),
    ...goGroups.map(async (group) => [group, await goPackages(root, group, say)] as const),
  ]);
  return { system, python, packages };
}

async function buildAll(root: string, offer: Offer | undefined, report: Reporter): Promise<Toolchain> {
  await ensureOwned(CACHE_FOLDER, root);
  if (offer) await report.part("release", async (say) => takeArchive(offer, await archiveEntries(root), say));
  const groups = new Map<GoGroup, { dir: string; key: string }>();
  const built = (group: GoGroup) => groups.get(group) ?? fail(`The group ${group.name} is not built`);
  const { packages, python, system } = await report.part("downloads", (say) => downloads(root, say));
  const progress = new GoProgress(packages.flatMap(([group, list]) => goWork(group, list)));
  for (const [group, list] of packages) {
    const dir = await report.part(`Go programs (${group.name})`, (say) =>
      ensureGoGroup(root, group, list, progress, say),
    );
    groups.set(group, { dir, key: (await goEntry(root, group)).key });
  }
  if (await isBuilt(root)) await removeBuildCache(root);
  const images = await report.part("images", (say) => ensureImages(root, built, say));
  const helm = join(built(mainGroup).dir, "helm");
  const charts = await report.part("charts", (say) => ensureCharts(root, helm, say));

  const paths = new Map<string, string>([
    ...[...groups].flatMap(([group, { dir }]) => group.programs.map((name) => [name, join(dir, name)] as const)),
    ["aws", join(python, "bin", "aws")],
    ...SYSTEM_COMMANDS.map((name) => [name, join(system.bin, name)] as const),
  ]);
  for (const [name, path] of paths)
    if (!existsSync(path)) fail(`${name} is not at ${path}: something removed it. Delete ${root} and run again.`);
  useSystem(system);
  const programs = [...paths.keys()].sort();
  return {
    bin: (name) => paths.get(name) ?? fail(`The toolchain has no program ${name}; it has ${programs.join(", ")}`),
    programs,
    images: () => images,
    charts,
    python,
    system: system.bin,
    cni: system.cni,
  };
}

function fail(message: string): never {
  throw new Error(message);
}
