import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { GoMod } from "./go-mod.ts";
import { run } from "./run.ts";

/** A change of one module's source: what the local stack never calls isn't compiled. */
export interface Patch {
  /** The unified diff; its paths start with the module's path. */
  readonly file: string;
  /** Path of the module. */
  readonly module: string;
  /** Why, and what no longer works: the text before the diff. */
  readonly says: string;
}

/**
 * Reads one patch. @throws when a file that it changes is in no module of the go.mod, or in another than the first.
 */
export function readPatch(file: string, text: string, mod: GoMod): Patch {
  const paths = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, path = ""]) => path);
  const modules = new Set(paths.map((path) => moduleOf(path, mod)));
  const [module] = modules;
  if (module === undefined || modules.size > 1)
    throw new Error(
      `${file} must change files of exactly one module that its go.mod requires, with paths such as ` +
        `b/github.com/fluxcd/pkg/auth/git.go; got ${paths.join(" and ") || "no path"}`,
    );
  return { file, module, says: text.slice(0, text.indexOf("diff --git ")).trim() };
}

function moduleOf(path: string, mod: GoMod): string | undefined {
  const known = [...mod.versions.keys()].filter((module) => path.startsWith(`${module}/`));
  return known.sort((a, b) => b.length - a.length)[0];
}

/** The patches in a group's folder, by name. */
export function readPatches(dir: string, mod: GoMod): Patch[] {
  const folder = join(dir, "patches");
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).sort();
  return files.map((name) => readPatch(join(folder, name), readFileSync(join(folder, name), "utf8"), mod));
}

/**
 * Makes a copy of a group's folder whose go.mod replaces the patched modules by copies of theirs beside it: Go refuses to
 * change what is in the module cache. The copy is the same at every run.
 */
export async function patchGroup(
  group: { readonly dir: string; readonly patches: readonly Patch[] },
  target: string,
  env: Record<string, string>,
): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await cp(group.dir, target, { recursive: true, filter: (path) => basename(path) !== "patches" });
  for (const { file, module } of group.patches) {
    const output = await run(["go", "mod", "download", "-json", module], { cwd: group.dir, env });
    const { Dir: source }: { Dir?: string } = JSON.parse(output);
    if (!source) throw new Error(`go mod download ${module} names no folder: ${output}`);
    await copyModule(source, join(target, "modules", module));
    // Were the cache inside somebody's checkout, git would take the paths from the top of that.
    const apply = { cwd: join(target, "modules"), env: { GIT_CEILING_DIRECTORIES: target } };
    await run(["git", "apply", "--whitespace=nowarn", file], apply);
    await replaceModule(join(target, "go.mod"), module);
  }
}

/** Has a go.mod take a module from its copy. A module has one replacement: Kubernetes' modules are replaced by their versions already. */
async function replaceModule(goMod: string, module: string): Promise<void> {
  const lines = (await readFile(goMod, "utf8")).split("\n");
  const others = lines.filter((line) => !line.replace(/^(replace)?\s+/, "").startsWith(`${module} => `));
  await writeFile(goMod, `${others.join("\n")}\nreplace ${module} => ./modules/${module}\n`);
}

/** Copies a module without its tests; what the module cache keeps read-only becomes writable. */
async function copyModule(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const built = (path: string) => !path.endsWith("_test.go") && basename(path) !== "testdata";
  await cp(source, target, { recursive: true, filter: built });
  await makeWritable(target);
}

/** Makes a copy of something in the module cache writable: files and folders are read-only there. */
export async function makeWritable(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  await chmod(folder, 0o755);
}
