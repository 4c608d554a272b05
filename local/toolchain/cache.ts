import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import { writeAtomic } from "../instance/files.ts";
import type { OwnedKind } from "../instance/folder.ts";

/** Entries that no run has used for this long are removed when a newer one of their group is finished. */
const KEEP_UNUSED_MS = 14 * 24 * 3600 * 1000;
const MARKER = ".complete";

/** The toolchain's folder, outside every checkout: FLEET_CACHE_DIR, or `eks-gitops-fleet` in the user's cache folder. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.FLEET_CACHE_DIR || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "eks-gitops-fleet"));
}

// Folders of a build or a download, beside the groups.
export const BUILD_FOLDERS: readonly string[] = ["addon-build", "archive", "go-build", "go-src", "go-tmp"];

/** Whether it is a folder of entries, all named by a contentKey; a link never is, wherever it leads. */
function isGroup(path: string): boolean {
  if (!lstatSync(path).isDirectory()) return false;
  const names = readdirSync(path);
  return names.length > 0 && names.every((name) => /^[0-9a-f]{16}$/.test(name));
}

/** How long the steps of `npm start` took the last time (local/cli/time-left.ts). */
export const STEP_TIMES = "step-times.json";

/** The file, or a draft of it that a killed run left. */
const isStepTimes = (name: string): boolean => name === STEP_TIMES || name.startsWith(`${STEP_TIMES}.`);

/** The cache as a folder that we fill and remove. */
export const CACHE_FOLDER: OwnedKind = {
  what: "the toolchain's cache",
  variable: "FLEET_CACHE_DIR",
  isPart: (dir, name) => BUILD_FOLDERS.includes(name) || isStepTimes(name) || isGroup(join(dir, name)),
};

/** Names the content of a recipe: 16 hex digits that change with any part, its name or the order of the parts. */
export function contentKey(parts: Record<string, string>): string {
  const hash = createHash("sha256");
  for (const [name, content] of Object.entries(parts))
    hash.update(`${name.length}:${name}${content.length}:${content}`);
  return hash.digest("hex").slice(0, 16);
}

/** The text of every file below these folders and files, by its path from `base`, sorted: the input of a contentKey. */
export async function readTexts(base: string, paths: readonly string[]): Promise<Record<string, string>> {
  const files: string[] = [];
  const collect = async (path: string): Promise<void> => {
    if (!(await stat(path)).isDirectory()) return void files.push(path);
    for (const name of await readdir(path)) await collect(join(path, name));
  };
  for (const path of paths) await collect(join(base, path));
  const texts: Record<string, string> = {};
  for (const file of files.sort()) texts[relative(base, file)] = await readFile(file, "utf8");
  return texts;
}

/** One artefact group: what `key` names is in `<root>/<group>/<key>`. */
export interface Entry {
  readonly root: string;
  readonly group: string;
  readonly key: string;
}

const entryDir = (entry: Entry): string => join(entry.root, entry.group, entry.key);

/** Whether the entry was finished, by this run or any earlier one. */
export async function isComplete(entry: Entry): Promise<boolean> {
  return stat(join(entryDir(entry), MARKER)).then(
    () => true,
    () => false,
  );
}

export const areComplete = async (entries: readonly Entry[]): Promise<boolean> =>
  (await Promise.all(entries.map(isComplete))).every(Boolean);

/**
 * The entry's folder, made by `build` unless an earlier run finished it. A build works in the final folder (a Python
 * environment cannot be moved, and a Go build goes on where it was killed); only the marker, written last, makes it count.
 */
export async function ensureEntry(entry: Entry, build: (dir: string) => Promise<void>): Promise<string> {
  const dir = entryDir(entry);
  if (await isComplete(entry)) {
    const now = new Date();
    await utimes(join(dir, MARKER), now, now);
    return dir;
  }
  await mkdir(dir, { recursive: true });
  await build(dir);
  await writeAtomic(join(dir, MARKER), `${new Date().toISOString()}\n`);
  await removeUnused(entry);
  return dir;
}

async function removeUnused(entry: Entry): Promise<void> {
  const folder = join(entry.root, entry.group);
  for (const name of await readdir(folder)) {
    if (name === entry.key) continue;
    const used = await stat(join(folder, name, MARKER)).catch(() => stat(join(folder, name)));
    if (Date.now() - used.mtimeMs > KEEP_UNUSED_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}
