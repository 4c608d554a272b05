import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { orMissing } from "./files.ts";
import { kill } from "./processes.ts";

const ROOT = "/sys/fs/cgroup";
const SUBTREE_CONTROL = "cgroup.subtree_control";
const REMOVAL_ATTEMPTS = 200;
const V2_CONTROLLERS = ["cpu", "cpuset", "memory", "pids", "io"];

/** The cgroup hierarchies of this machine: one unified tree (v2), or one tree per controller (v1), all of which runc uses. */
export interface Hierarchies {
  readonly version: 1 | 2;
  /** Folders that are the roots of the trees. */
  readonly roots: readonly string[];
}

/** Finds the hierarchies of this machine (or of a test's `root`). Rejects when there is none. */
export async function hierarchies(root: string = ROOT): Promise<Hierarchies> {
  const entries = await readdir(root, { withFileTypes: true });
  if (entries.some(({ name }) => name === "cgroup.controllers")) return { version: 2, roots: [root] };
  // Links are second names of trees that several controllers share.
  const roots = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
  if (roots.length === 0)
    throw new Error(`no cgroup hierarchy under ${root}: mount cgroup2 there (a node's containers need one)`);
  return { version: 1, roots };
}

/** Makes a cgroup (absolute path like `/fleet-0/hub-0`) in every hierarchy, ready to take processes. */
export async function makeCgroup(cgroup: string): Promise<void> {
  const { version, roots } = await hierarchies();
  for (const root of roots) {
    let parent = root;
    for (const segment of cgroup.split("/").filter((part) => part !== "")) {
      if (version === 2) await enableControllers(parent);
      const folder = join(parent, segment);
      await mkdir(folder, { recursive: true });
      if (version === 1 && root.endsWith("/cpuset")) await inheritCpuset(parent, folder);
      parent = folder;
    }
  }
}

/** The controllers that the root cgroup passes on to those below it (v2; on v1 there is nothing of the kind). */
export async function rootControllers(root: string): Promise<string[]> {
  return (await hierarchies(root)).version === 1 ? [] : await passedOn(root);
}

/**
 * Lets the root cgroup pass on only these controllers again. It keeps those that a cgroup below it passes on: another program uses them.
 * @param write writes to a file of the kernel's
 * @returns those that the kernel kept although no cgroup passes them on
 */
export async function withoutRootControllers(
  root: string,
  keep: readonly string[],
  write: (file: string, text: string) => Promise<void> = writeFile,
): Promise<string[]> {
  for (const name of (await rootControllers(root)).filter((controller) => !keep.includes(controller)))
    await write(join(root, SUBTREE_CONTROL), `-${name}`).catch((error: NodeJS.ErrnoException) =>
      error.code === "EBUSY" ? undefined : Promise.reject(error),
    );
  const left = (await rootControllers(root)).filter((controller) => !keep.includes(controller));
  if (left.length === 0) return [];
  const below = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const used = (await Promise.all(below.map(({ name }) => orMissing(passedOn(join(root, name)), [])))).flat();
  return left.filter((name) => !used.includes(name));
}

const passedOn = async (folder: string): Promise<string[]> =>
  words(await readFile(join(folder, SUBTREE_CONTROL), "utf8"));

/** An empty file has none. */
const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** The files to which a process writes its id to enter a cgroup, one per hierarchy. */
export async function procsFiles(cgroup: string): Promise<string[]> {
  return (await hierarchies()).roots.map((root) => join(root, cgroup, "cgroup.procs"));
}

/** Folders of a cgroup and all below it, deepest first, in every hierarchy. */
export async function cgroupFolders(cgroup: string): Promise<string[]> {
  const { roots } = await hierarchies();
  return (await Promise.all(roots.map((root) => subtree(join(root, cgroup))))).flat();
}

/** Ids of the processes in a cgroup and all below it. */
export async function cgroupProcesses(cgroup: string): Promise<number[]> {
  const lists = await Promise.all(
    (await cgroupFolders(cgroup)).map((folder) => orMissing(readFile(join(folder, "cgroup.procs"), "utf8"), "")),
  );
  return [...new Set(lists.flatMap((text) => text.split("\n").filter((line) => line !== "")).map(Number))];
}

/** Kills all processes in a cgroup and below it, and removes it. Nothing happens when it is gone. */
export async function removeCgroup(cgroup: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    for (const pid of await cgroupProcesses(cgroup)) kill(pid);
    try {
      for (const folder of await cgroupFolders(cgroup)) await orMissing(rmdir(folder), undefined);
      return;
    } catch (error) {
      // The kernel takes a moment to forget dead processes.
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || attempt >= REMOVAL_ATTEMPTS) throw error;
    }
    await sleep(50);
  }
}

async function subtree(folder: string): Promise<string[]> {
  const entries = await orMissing(readdir(folder, { withFileTypes: true }), undefined);
  if (entries === undefined) return [];
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => subtree(join(folder, entry.name))),
  );
  return [...below.flat(), folder];
}

async function enableControllers(folder: string): Promise<void> {
  const available = words(await readFile(join(folder, "cgroup.controllers"), "utf8"));
  const wanted = V2_CONTROLLERS.filter((name) => available.includes(name)).map((name) => `+${name}`);
  if (wanted.length > 0) await writeFile(join(folder, SUBTREE_CONTROL), wanted.join(" "));
}

// A new cpuset (v1) is empty and refuses processes until it has processors and memory nodes.
async function inheritCpuset(parent: string, folder: string): Promise<void> {
  for (const file of ["cpuset.cpus", "cpuset.mems"]) {
    if ((await readFile(join(folder, file), "utf8")).trim() !== "") continue;
    await writeFile(join(folder, file), await readFile(join(parent, file)));
  }
}
