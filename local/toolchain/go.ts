import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { readText } from "../instance/files.ts";
import { areComplete, BUILD_FOLDERS, contentKey, type Entry, ensureEntry, isComplete, readTexts } from "./cache.ts";
import { addonGroups, type GoGroup, goGroups } from "./go-groups.ts";
import type { GoProgress, Work } from "./go-progress.ts";
import { patchGroup } from "./patches.ts";
import { run } from "./run.ts";

/**
 * The compiler's garbage collector, off as long as a compiler stays below its share of the memory: a fifth of its time.
 * On a machine with less than 1 GiB for each it collects as usual.
 */
function collector(): Record<string, string> {
  // A quarter: compilers run side by side, one per processor, and most of them are small.
  const share = Math.floor(totalmem() / 2 ** 20 / (4 * availableParallelism()));
  return share < 1024 ? {} : { GOGC: "off", GOMEMLIMIT: `${share}MiB` };
}

// Programs are stripped, so the compiler writes no debugging information either: a tenth of its time.
const GO_FLAGS = "-mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false";

const ADDON_BUILD = "addon-build";

/** Where what a build leaves behind is. */
const workFolder = (root: string, { isAddon }: GoGroup): string => (isAddon ? join(root, ADDON_BUILD) : root);

/** No C compiler, no path of the machine in a binary, exactly the go.mod and go.sum that are committed. */
const environment = (work: string): Record<string, string> => ({
  CGO_ENABLED: "0",
  ...collector(),
  GOCACHE: join(work, "go-build"),
  GOFLAGS: GO_FLAGS,
  // Not in /tmp, which may be small: programs are linked here.
  GOTMPDIR: join(work, "go-tmp"),
  GOTOOLCHAIN: "local",
  GOWORK: "off",
});

/** Where a group's programs are, or will be. The key is its go.mod, go.sum, own mains, patches, flags and the processor. */
export async function goEntry(root: string, group: GoGroup): Promise<Entry> {
  const folders = ["cmd", "patches"].filter((name) => existsSync(join(group.dir, name)));
  const texts = await readTexts(group.dir, ["go.mod", "go.sum", ...folders]);
  const key = contentKey({ ...texts, ldflags: group.ldflags.join(" "), flags: GO_FLAGS, arch: process.arch });
  return { root, group: `go-${group.name}`, key };
}

/** Whether all programs of these groups are in the cache. */
export async function areBuilt(root: string, groups: readonly GoGroup[]): Promise<boolean> {
  return areComplete(await Promise.all(groups.map((group) => goEntry(root, group))));
}

/** Where a group is built: its folder, or with patches a copy. */
const buildFolder = (root: string, group: GoGroup) =>
  group.patches.length === 0 ? group.dir : join(workFolder(root, group), "go-src", group.name);
const options = (root: string, group: GoGroup) => ({
  cwd: buildFolder(root, group),
  env: environment(workFolder(root, group)),
  background: true,
});
const patterns = (group: GoGroup): string[] => [
  ...(group.mod.tools.length > 0 ? ["tool"] : []),
  ...(existsSync(join(group.dir, "cmd")) ? ["./cmd/..."] : []),
];

/** A package that a group's programs need. */
export interface GoPackage {
  readonly path: string;
  readonly dir: string;
  /** Bytes of its Go source, without data that a file embeds. */
  readonly bytes: number;
  /** How many packages it imports, also indirectly. */
  readonly dependencies: number;
}

/** Of a larger file, the rest is data: github.com/swaggo/files has 34 MB in one, compiled in 0.3 s. */
const FILE_BYTES = 400_000;

/** Downloads the modules of a group and lists the packages to compile; nothing of both when the group is cached. */
export async function goPackages(root: string, group: GoGroup, say: (detail: string) => void): Promise<GoPackage[]> {
  if (await isComplete(await goEntry(root, group))) return [];
  if (group.patches.length > 0) await patchGroup(group, buildFolder(root, group), environment(workFolder(root, group)));
  let downloads = 0;
  const format = '{{.ImportPath}}\t{{.Dir}}\t{{len .Deps}}\t{{join .GoFiles "\t"}}';
  const listed = await run(["go", "list", "-deps", "-f", format, ...patterns(group)], {
    ...options(root, group),
    onLine: (line) => line.startsWith("go: downloading ") && say(`${++downloads} Go modules downloaded`),
  });
  return listed
    .split("\n")
    .filter((line) => line !== "")
    .map(readPackage);
}

/** Reads a line of {@link goPackages}: import path, folder, number of dependencies, files. */
export function readPackage(line: string): GoPackage {
  const [path = "", dir = "", dependencies, ...files] = line.split("\t");
  const sizes = files.filter((file) => file !== "").map((file) => statSync(join(dir, file)).size);
  const bytes = sizes.reduce((sum, size) => sum + Math.min(size, FILE_BYTES), 0);
  return { path, dir, bytes, dependencies: Number(dependencies) };
}

// Measured (go build -debug-actiongraph, empty build cache, 4,429 packages and 23 programs): 2.05 CPU seconds for each megabyte of source, and
// as much for 10,000 dependencies, whose export data a compiler reads; 1.6 for each program that is linked.
const DEPENDENCY_BYTES = 100;
const LINK_BYTES = 800_000;

/** What it costs to build a group, given its packages: in bytes of source that take as long. */
export const goWork = (group: GoGroup, packages: readonly GoPackage[]): Work[] =>
  packages.length === 0
    ? []
    : [
        ...packages.map(({ dir, bytes, dependencies }) => ({
          id: dir,
          weight: bytes + DEPENDENCY_BYTES * dependencies,
        })),
        ...group.programs.map((name) => ({ id: `${group.name}/${name}`, weight: LINK_BYTES })),
      ];

/**
 * Builds the group's programs unless they are cached, and returns their folder. Killed and run again it goes on: what was
 * compiled is in the build cache, programs that were linked are recognized by `go build`.
 * @param packages what `goPackages` listed
 * @param progress is told what is done
 */
export async function ensureGoGroup(
  root: string,
  group: GoGroup,
  packages: readonly GoPackage[],
  progress: GoProgress,
  say: (detail: string) => void,
): Promise<string> {
  return ensureEntry(await goEntry(root, group), async (dir) => {
    await mkdir(join(workFolder(root, group), "go-tmp"), { recursive: true });
    const log = join(dir, "build.log");
    const folders = new Map(packages.map((one) => [one.path, one.dir]));
    const linked = () => group.programs.filter((program) => existsSync(join(dir, program)));
    for (const path of (await readText(log))?.split("\n") ?? []) progress.done(folders.get(path) ?? "", "before");
    for (const program of linked()) progress.done(`${group.name}/${program}`, "before");
    const flags = ["-v", "-ldflags", group.ldflags.join(" "), "-o", `${dir}/`];
    await run(["go", "build", ...flags, ...patterns(group)], {
      ...options(root, group),
      onLine: (line) => {
        const folder = folders.get(line);
        if (folder === undefined) return;
        appendFileSync(log, `${line}\n`);
        progress.done(folder);
        for (const program of linked()) progress.done(`${group.name}/${program}`);
        say(progress.describe());
      },
    });
    const missing = group.programs.filter((program) => !existsSync(join(dir, program)));
    if (missing.length > 0) throw new Error(`go build in ${group.dir} made no ${missing.join(", ")}`);
    // What was in the build cache is said of no line.
    for (const { id } of goWork(group, packages)) progress.done(id);
    await rm(log, { force: true });
  });
}

/** Removes the build cache (many GB); while a group is not built, it is what a killed build goes on from. */
export const removeBuildCache = (root: string): Promise<void> =>
  removeFolders(
    root,
    BUILD_FOLDERS.filter((folder) => folder !== ADDON_BUILD),
  );

/** The same of add-ons. */
export const removeAddonBuild = (root: string): Promise<void> => removeFolders(root, [ADDON_BUILD]);

async function removeFolders(root: string, folders: readonly string[]): Promise<void> {
  // A go command that still runs may put a file in meanwhile.
  for (const folder of folders) await rm(join(root, folder), { recursive: true, force: true, maxRetries: 10 });
}

/**
 * The folder of a module's source in the Go module cache, downloaded (and checked against go.sum) if it is not there.
 * @param path a module path that a go.mod of the toolchain requires, such as `github.com/fluxcd/source-controller`.
 */
export function moduleDir(path: string): string {
  const group = [...goGroups, ...addonGroups].find((candidate) => candidate.mod.versions.has(path));
  if (!group) throw new Error(`No go.mod of the toolchain requires the module ${path}`);
  const env = { ...process.env, GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local", GOWORK: "off" };
  const output = execFileSync("go", ["mod", "download", "-json", path], { cwd: group.dir, env, encoding: "utf8" });
  const { Dir: dir }: { Dir?: string } = JSON.parse(output);
  if (!dir) throw new Error(`go mod download ${path} names no folder: ${output}`);
  return dir;
}
