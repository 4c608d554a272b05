import { appendFile, copyFile, open, readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { Instance } from "../instance/addresses.ts";
import { orMissing } from "../instance/files.ts";

/** A log above this size is moved to `<name>.1` (in place: its writer keeps the file open), so logs can't fill the disk. */
const LOG_LIMIT_BYTES = 32 << 20;

/** The log of a process. */
export function logOf(instance: Instance, id: string): string {
  return join(instance.paths.logs, `${id}.log`);
}

/** The last lines of a log, for error messages; empty when there is no log. */
async function tailOf(path: string, lines = 20): Promise<string> {
  const file = await orMissing(open(path), undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const length = Math.min(size, 16 << 10);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    await file.close();
  }
}

/** An error with where a log is, and its end. */
export const errorWithLog = async (message: string, log: string): Promise<Error> =>
  new Error(`${message}. Log: ${log}\n${await tailOf(log)}`);

/** Adds a line to the instance's events. */
export async function noteEvent(instance: Instance, message: string): Promise<void> {
  await appendFile(instance.paths.events, `${new Date().toISOString()} ${message}\n`);
}

/** Cuts every log of an instance that has grown past the limit. */
export async function capLogs(instance: Instance, limit = LOG_LIMIT_BYTES): Promise<void> {
  for (const name of await readdir(instance.paths.logs)) {
    const path = join(instance.paths.logs, name);
    if (!name.endsWith(".log") || (await stat(path)).size <= limit) continue;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  }
}
