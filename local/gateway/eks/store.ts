import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeAtomic } from "../../instance/index.ts";
import { CATALOG } from "./addon-catalog.ts";
import { inUse, limitExceeded, notFound } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import type { NumberRange } from "./runtime.ts";

/** The state of the EKS API: one file per cluster, on disk before a call is answered. */
export type Store = Awaited<ReturnType<typeof openStore>>;

interface StoredRecord extends ClusterRecord {
  readonly podIdentityAssociations?: unknown;
}

/** A record of an earlier release without what this one does not serve: pod identity associations and their agent's add-on. */
function carriedOver({ podIdentityAssociations: _, ...record }: StoredRecord): ClusterRecord {
  const served = Object.entries(record.addons).filter(([addon]) => CATALOG.some(({ name }) => name === addon));
  return { ...record, addons: Object.fromEntries(served) };
}

/** Opens the store in a folder (made where missing). */
export async function openStore(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const records = new Map<string, ClusterRecord>();
  for (const file of await readdir(folder)) {
    // Drafts of an interrupted write have other endings.
    const record = file.endsWith(".json") ? await readJson<StoredRecord>(join(folder, file)) : undefined;
    if (record !== undefined) records.set(record.cluster.name, carriedOver(record));
  }
  const path = (name: string): string => join(folder, `${name}.json`);
  // Writes happen in order, so that an earlier state never overwrites a later one.
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

  const get = (name: string): ClusterRecord => {
    const record = records.get(name);
    if (record === undefined) throw notFound(`No cluster found for name: ${name}.`, { clusterName: name });
    return record;
  };
  return {
    list: () => [...records.values()].sort((a, b) => a.cluster.name.localeCompare(b.cluster.name)),
    /** The record, or undefined. Treat it as read only: `change` is the way to write. */
    find: (name: string) => records.get(name),
    /** The record. Throws ResourceNotFoundException. */
    get,
    /** The lowest free cluster number of a range. Throws ResourceLimitExceededException. */
    freeNumber: ({ first, end }: NumberRange): number => {
      const taken = new Set([...records.values()].map((record) => record.number));
      for (let number = first; number < end; number++) if (!taken.has(number)) return number;
      throw limitExceeded(`an instance of the embedded cloud holds at most ${end - first} clusters: delete one first`);
    },
    /** Adds a cluster. Throws ResourceInUseException where one has its name. */
    add: async (record: ClusterRecord): Promise<void> => {
      const { name } = record.cluster;
      if (records.has(name)) throw inUse(`Cluster already exists with name: ${name}`, { clusterName: name });
      records.set(name, record);
      await save(name);
    },
    /** Applies `edit` to a copy and saves it; a throwing edit changes nothing. Edits are synchronous, so none interleave. */
    change: async <T>(name: string, edit: (record: ClusterRecord) => T): Promise<T> => {
      const copy = structuredClone(get(name));
      const result = edit(copy);
      records.set(name, copy);
      await save(name);
      return result;
    },
    remove: async (name: string): Promise<void> => {
      records.delete(get(name).cluster.name);
      await ordered(() => rm(path(name), { force: true }));
    },
  };
}
