import { createHash } from "node:crypto";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import {
  expectUnmounted,
  type Instance,
  isWithin,
  listInstances,
  readText,
  releaseInstance,
  tryLock,
  withLock,
} from "../instance/index.ts";
import { killAll, processesWithin } from "../instance/processes.ts";
import { tearDown } from "./teardown.ts";

/** How long another command may take to remove folders of the same kind. */
const REMOVAL_SECONDS = 900;
/** The temporary folders outside that a run has: those of test/support/scratch.ts. */
const OUTSIDE = /\/fleet-unit-\w{6}$/;

const ownerLock = (folder: string) => `owner/${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;

/** The file in a temporary folder that lists the temporary folders of its processes outside of it, one a line. */
export const foldersFile = (folder: string): string => join(folder, "folders");

/**
 * Creates a folder for instances that live as long as this process, and owns it. First removes the folders of the same kind whose owner
 * has ended, with their instances and processes.
 * @param kind begins the folder's name: `fleet-preview`.
 */
export async function temporaryFolder(kind: string, stack: string): Promise<string> {
  const parent = await realpath(tmpdir());
  // Without the lock, another command might remove the new folder before this one owns it.
  return withLock(`temporary/${kind}`, () => newFolder(parent, kind, stack), REMOVAL_SECONDS);
}

async function newFolder(parent: string, kind: string, stack: string): Promise<string> {
  // mkdtemp(3) adds six characters: other kinds may begin with the same words.
  const ofKind = new RegExp(`^${kind}-\\w{6}$`);
  // An instance outlives its folder if a cleaner of temporary files removed that.
  const withInstances = (await listInstances()).map(({ dir }) => relative(parent, dir).split(sep)[0] ?? "");
  for (const name of new Set([...(await readdir(parent)), ...withInstances].filter((each) => ofKind.test(each)))) {
    const folder = join(parent, name);
    const abandoned = await tryLock(ownerLock(folder));
    if (abandoned === undefined) continue;
    console.log(`Removing ${folder} of an earlier run`);
    await removeTemporary(folder, stack).catch((error: Error) => console.error(error.message));
    await abandoned.release();
  }
  const folder = await mkdtemp(join(parent, `${kind}-`));
  if ((await tryLock(ownerLock(folder))) === undefined)
    throw new Error(`another process owns the new folder ${folder}`);
  return folder;
}

/**
 * Kills the processes that have their temporary files in a temporary folder, and removes the instances in it and the folder itself.
 * @param say receives a line for each instance
 * @throws Error with every instance and folder that can't be removed
 */
export async function removeTemporary(
  folder: string,
  stack: string,
  say: (line: string) => void = console.log,
): Promise<void> {
  const folders = await foldersOf(folder);
  await killAll(() => processesWithin(folders));
  const failures: string[] = [];
  const attempt = async (dir: string, work: () => Promise<void>) =>
    work().catch((error: Error) => failures.push(`${dir}: ${error.message}`));
  for (const instance of await instancesWithin(folders))
    await attempt(instance.dir, async () => {
      say(`Removing the temporary instance in ${instance.dir}`);
      const opened = await tearDown(instance.dir, stack, { force: true, quiet: true });
      if (!opened) await releaseInstance(instance);
    });
  // The folder has the state of an instance that is left.
  for (const each of failures.length > 0 ? [] : folders)
    await attempt(each, async () => {
      await expectUnmounted(each);
      await rm(each, { recursive: true, force: true, maxRetries: 5 });
    });
  if (failures.length > 0) throw new Error(`could not remove ${folder}:\n${failures.join("\n")}`);
}

/** A temporary folder, and those that its file lists. */
async function foldersOf(folder: string): Promise<string[]> {
  const listed = ((await readText(foldersFile(folder))) ?? "").split("\n");
  return [folder, ...listed.filter((line) => OUTSIDE.test(line))];
}

const instancesWithin = async (folders: readonly string[]): Promise<Instance[]> =>
  (await listInstances()).filter(({ dir }) => folders.some((folder) => isWithin(folder, dir)));
