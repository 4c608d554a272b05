import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";

/** Writes a file so that a reader (or a kill) never meets half of it. @param mode default: 0600 */
export async function writeAtomic(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, content, { mode });
  await rename(draft, path);
}

/** The content of a JSON file, or undefined when there is no such file. Any other error rejects, naming the file. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new Error(`${path} is not valid JSON (${(error as Error).message}): remove it or put it right`);
  }
}

/** The text of a file, or undefined when there is no such file. */
export const readText = (path: string): Promise<string | undefined> => orMissing(readFile(path, "utf8"), undefined);

/** The names in a folder (with `recursive`, the paths below it), or undefined when there is no such folder. Any other error rejects. */
export const readFolder = (path: string, { recursive = false } = {}): Promise<string[] | undefined> =>
  orMissing(readdir(path, { recursive }), undefined);

/** What an operation gives, or `otherwise` when what it works on does not exist. Any other error rejects. */
export const orMissing = <T, U>(operation: Promise<T>, otherwise: U): Promise<T | U> =>
  operation.catch((error: unknown) => (isMissing(error) ? otherwise : Promise.reject(error)));

// ENODEV: a cgroup that went away after it was listed.
const MISSING = ["ENOENT", "ESRCH", "ENOTDIR", "ENODEV"];

/** Whether an error says that a file, folder or process does not exist. */
export const isMissing = (error: unknown): boolean =>
  MISSING.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
