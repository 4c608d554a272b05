import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Repository } from "../../lib/names.ts";
import { readFiles } from "../folder.ts";

/** A file of a checkout before and after a change; undefined where there is none. */
export interface FileChange {
  /** From the top of the checkout. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a command wants to change in a checkout. */
export interface Proposal {
  /** Undefined for one that no cluster reads, such as this project's. */
  readonly repository?: Repository;
  /** Its folder. */
  readonly checkout: string;
  readonly files: readonly FileChange[];
  /** Folders and files that a person may add as a whole, from the top of the checkout; default: each of `files`. */
  readonly places?: readonly string[];
  /** First line of the commit's message. */
  readonly subject: string;
  /** The rest of it. */
  readonly body?: string;
}

const textAt = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/** What makes a checkout have these files, undefined for those that it is not to have; without the files that are so already. */
export function changesTo(checkout: string, files: Readonly<Record<string, string | undefined>>): FileChange[] {
  return Object.entries(files)
    .map(([path, after]) => ({ path, before: textAt(join(checkout, path)), after }))
    .filter(({ before, after }) => before !== after);
}

/** The removal of a folder of a checkout. */
export async function removalOf(checkout: string, folder: string): Promise<FileChange[]> {
  const paths = Object.keys(await readFiles(join(checkout, folder))).sort();
  return changesTo(checkout, Object.fromEntries(paths.map((path) => [join(folder, path), undefined])));
}

/** Removes a folder if it is empty, and those above it that are empty then: Git has none either. */
async function removeEmpty(folder: string, top: string): Promise<void> {
  if (folder === top) return;
  try {
    await rmdir(folder);
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) return;
    throw error;
  }
  await removeEmpty(dirname(folder), top);
}

async function put(checkout: string, { path, before, after }: FileChange): Promise<void> {
  const file = join(checkout, path);
  if (after === undefined) {
    await rm(file);
    await removeEmpty(dirname(file), checkout);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  // A file that was made meanwhile belongs to somebody else.
  await writeFile(file, after, { flag: before === undefined ? "wx" : "w" });
}

/** Writes and removes files of a checkout, all or none. Rejects if one that is to be new exists. */
export async function writeFiles(checkout: string, files: readonly FileChange[]): Promise<void> {
  const done: FileChange[] = [];
  try {
    for (const file of files) {
      await put(checkout, file);
      done.push(file);
    }
  } catch (error) {
    for (const { path, before, after } of done.reverse()) await put(checkout, { path, before: after, after: before });
    throw error;
  }
}
