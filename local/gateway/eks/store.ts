import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeAtomic } from "../../instance/index.ts";
import { inUse, limitExceeded, notFound } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import type { NumberRange } from "./runtime.ts";

/** The state of the EKS API: one file per cluster, on disk before a call is answered. */
export interface Store {
  list(): ClusterRecord[];
  /** The record, or undefined. Treat it as read only: `change` is the way to write. */
  find(name: string): ClusterRecord | undefined;
  /** The record. Throws ResourceNotFoundException. */
  get(name: string): ClusterRecord;
  /** The lowest free cluster number of a range. Throws ResourceLimitExceededException. */
  freeNumber(range: NumberRange): number;
  /** Adds a cluster. Throws ResourceInUseException where one has its name. */
  add(record: ClusterRecord): Promise<void>;
  /** Applies `edit` to a copy and saves it; a throwing edit changes nothing. Edits are synchronous, so none interleave. */
  change<T>(name: string, edit: (record: ClusterRecord) => T): Promise<T>;
  remove(name: string): Promise<void>;
}

/** Opens the store in a folder (made where missing). */
export async function openStore(folder: string): Promise<Store> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map<string, ClusterRecord>();
  for (const file of await readdir(folder)) {
    // Drafts of an interrupted write have other endings.
    const record = file.endsWith(".json") ? await readJson<ClusterRecord>(join(folder, file)) : undefined;
    if (record !== undefined) records.set(record.cluster.name, record);
  }
  const path = (name: string): string => join(folder, `${name}.json`);
  // Writes of one cluster are in order: a later state never loses against an earlier one.
  let writes: Promise<unknown> = Promise.resolve();
  const ordered = <T>(write: () => Promise<T>): Promise<T> => {
    const next = writes.then(write, write);
    writes = next.catch(() => undefined);
    return next;
  };
  const save = (name: string): Promise<void> =>
    ordered(async () => {
      const record = records.get(name);
      if (record !== undefined) await writeAtomic(path(name), `${JSON.stringify(record, null, 2)}\n`);
    });

  const store: Store = {
    list: () => [...records.values()].sort((a, b) => a.cluster.name.localeCompare(b.cluster.name)),
    find: (name) => records.get(name),
    get: (name) => {
      const record = records.get(name);
      if (record === undefined) throw notFound(`No cluster found for name: ${name}.`, { clusterName: name });
      return record;
    },
    freeNumber: ({ first, end }) => {
      const taken = new Set([...records.values()].map((record) => record.number));
      for (let number = first; number < end; number++) if (!taken.has(number)) return number;
      throw limitExceeded(`an instance of the embedded cloud holds at most ${end - first} clusters: delete one first`);
    },
    add: async (record) => {
      if (records.has(record.cluster.name)) throw inUse(`Cluster already exists with name: ${record.cluster.name}`);
      records.set(record.cluster.name, record);
      await save(record.cluster.name);
    },
    change: async (name, edit) => {
      const copy = structuredClone(store.get(name));
      const result = edit(copy);
      records.set(name, copy);
      await save(name);
      return result;
    },
    remove: (name) => {
      if (!records.delete(name)) return Promise.reject(notFound(`No cluster found for name: ${name}.`));
      return ordered(() => rm(path(name), { force: true }));
    },
  };
  return store;
}
