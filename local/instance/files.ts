import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, writeFile } from "node:fs/promises";

/** Writes a file so that a reader (or a kill) never meets half of it. `mode` is 0600 unless told. */
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
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The names in a folder (with `recursive`, the paths below it), or undefined when there is no such folder. Any other error rejects. */
export async function readFolder(path: string, { recursive = false } = {}): Promise<string[] | undefined> {
  try {
    return await readdir(path, { recursive });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an error says that a file, folder or process does not exist. */
export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOENT" || code === "ESRCH" || code === "ENOTDIR";
}
