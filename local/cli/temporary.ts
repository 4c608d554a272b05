import { createHash } from "node:crypto";
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  expectUnmounted,
  type Instance,
  isWithin,
  listInstances,
  readText,
  releaseInstance,
  tryLock,
} from "../instance/index.ts";
import { killAll, processesWithin } from "../instance/processes.ts";
import { tearDown } from "./teardown.ts";

const ownerLock = (folder: string) => `owner/${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;

/** The file in a temporary folder that lists the temporary folders of its processes outside of it, one a line. */
export const foldersFile = (folder: string): string => join(folder, "folders");

/**
 * Creates a folder for instances that live as long as this process, and owns it. First removes the instances and processes in folders of
 * the same kind whose owner was killed.
 * @param kind begins the folder's name: `fleet-preview`.
 */
export async function temporaryFolder(kind: string, stack: string): Promise<string> {
  const parent = await realpath(tmpdir());
  // mkdtemp(3) adds six characters: other kinds may begin with the same words.
  const ofKind = new RegExp(`^${kind}-\\w{6}$`);
  for (const name of (await readdir(parent)).filter((each) => ofKind.test(each))) {
    const folder = join(parent, name);
    const abandoned = await tryLock(ownerLock(folder));
    if (abandoned === undefined) continue;
    const folders = await foldersOf(folder);
    // The folder of a failed run has logs only, and is kept.
    if (processesWithin(folders).length > 0 || (await instancesWithin(folders)).length > 0) {
      console.log(`Removing ${folder}, which an earlier run left`);
      await removeTemporary(folder, stack);
    }
    await abandoned.release();
  }
  const folder = await mkdtemp(join(parent, `${kind}-`));
  if ((await tryLock(ownerLock(folder))) === undefined)
    throw new Error(`another process owns the new folder ${folder}`);
  return folder;
}

/** Kills the processes that have their temporary files in a temporary folder, and removes the instances in it and the folder itself. */
export async function removeTemporary(folder: string, stack: string): Promise<void> {
  const folders = await foldersOf(folder);
  await killAll(() => processesWithin(folders));
  for (const instance of await instancesWithin(folders)) {
    console.log(`Removing the temporary instance in ${instance.dir}`);
    const opened = await tearDown(instance.dir, stack, { force: true, quiet: true });
    if (!opened) await releaseInstance(instance);
  }
  for (const each of folders) {
    await expectUnmounted(each);
    await rm(each, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A temporary folder, and those that its file lists. */
async function foldersOf(folder: string): Promise<string[]> {
  const listed = ((await readText(foldersFile(folder))) ?? "").split("\n");
  return [folder, ...listed.filter((line) => line !== "")];
}

const instancesWithin = async (folders: readonly string[]): Promise<Instance[]> =>
  (await listInstances()).filter(({ dir }) => folders.some((folder) => isWithin(folder, dir)));
