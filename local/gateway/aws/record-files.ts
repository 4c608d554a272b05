import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeAtomic } from "../../instance/index.ts";

/**
 * Opens records in a folder (made where missing): one file for each, on disk before a change resolves.
 * @param nameOf the name of a record's file
 */
export async function openRecords<T>(folder: string, nameOf: (record: T) => string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map<string, T>();
  for (const file of await readdir(folder)) {
    // Drafts of an interrupted write have other endings.
    const stored = file.endsWith(".json") ? await readJson<T>(join(folder, file)) : undefined;
    if (stored !== undefined) records.set(nameOf(stored), stored);
  }
  const path = (name: string): string => join(folder, `${name}.json`);
  // Writes happen in order, so that an earlier state never overwrites a later one.
  let writes: Promise<unknown> = Promise.resolve();
  const ordered = <R>(write: () => Promise<R>): Promise<R> => {
    const next = writes.then(write, write);
    writes = next.catch(() => undefined);
    return next;
  };
  const save = (name: string): Promise<void> =>
    ordered(async () => {
      const record = records.get(name);
      if (record !== undefined) await writeAtomic(path(name), `${JSON.stringify(record, null, 2)}\n`);
    });
  return {
    all: (): T[] => [...records.values()],
    /** The record, or undefined. Treat it as read only: `change` is the way to write. */
    find: (name: string) => records.get(name),
    /** Adds a record, or replaces that of its name. */
    add: async (record: T): Promise<void> => {
      records.set(nameOf(record), record);
      await save(nameOf(record));
    },
    /** Applies `edit` to a copy of a record and saves it; a throwing edit changes nothing. Edits are synchronous, so none interleave. */
    change: async <R>(record: T, edit: (copy: T) => R): Promise<R> => {
      const copy = structuredClone(record);
      const result = edit(copy);
      records.set(nameOf(copy), copy);
      await save(nameOf(copy));
      return result;
    },
    remove: async (name: string): Promise<void> => {
      records.delete(name);
      await ordered(() => rm(path(name), { force: true }));
    },
  };
}

/** The lowest number from `first` below `end` that is not taken; undefined when all are. */
export function freeNumber(
  taken: readonly number[],
  { first, end }: { first: number; end: number },
): number | undefined {
  for (let number = first; number < end; number++) if (!taken.includes(number)) return number;
  return undefined;
}
