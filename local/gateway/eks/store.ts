import { clusterId, clusterIdOf, parseClusterId } from "../../instance/cluster-id.ts";
import { freeNumber, openRecords } from "../aws/record-files.ts";
import { inUse, limitExceeded, notFound } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import type { NumberRange } from "./runtime.ts";

/** The clusters of one account by their names, or those of all by what the instance calls them (`clusterId`). */
export type Store = ReturnType<typeof storeOf>;

/** The state of the EKS API: one file per cluster, on disk before a call is answered. */
export type InstanceStore = Awaited<ReturnType<typeof openStore>>;

type Records = Awaited<ReturnType<typeof recordsIn>>;

const recordsIn = (folder: string) => openRecords<ClusterRecord>(folder, ({ cluster }) => clusterIdOf(cluster));

/** Opens the store in a folder (made where missing). */
export async function openStore(folder: string) {
  const records = await recordsIn(folder);
  return { ...storeOf(records), ofAccount: (account: string) => storeOf(records, account) };
}

function storeOf(records: Records, account?: string) {
  const idOf = (name: string): string => (account === undefined ? name : clusterId(name, account));
  const isOwn = ({ cluster }: ClusterRecord): boolean =>
    account === undefined || parseClusterId(clusterIdOf(cluster)).account === account;
  const find = (name: string) => records.find(idOf(name));
  const get = (name: string): ClusterRecord => {
    const record = find(name);
    if (record === undefined) throw notFound(`No cluster found for name: ${name}.`, { clusterName: name });
    return record;
  };
  return {
    list: () =>
      records
        .all()
        .filter(isOwn)
        .sort((a, b) => a.cluster.name.localeCompare(b.cluster.name)),
    find,
    /** The record. Throws ResourceNotFoundException. */
    get,
    /** The lowest free cluster number of a range. Throws ResourceLimitExceededException. */
    freeNumber: (range: NumberRange): number => {
      const taken = records.all().map((record) => record.number);
      const number = freeNumber(taken, range);
      if (number !== undefined) return number;
      const most = range.end - range.first;
      throw limitExceeded(`an instance of the embedded cloud holds at most ${most} clusters: delete one first`);
    },
    /** Adds a cluster. Throws ResourceInUseException where one has its name. */
    add: async (record: ClusterRecord): Promise<void> => {
      const { name } = record.cluster;
      if (find(name) !== undefined) throw inUse(`Cluster already exists with name: ${name}`, { clusterName: name });
      await records.add(record);
    },
    /** Applies `edit` to a copy and saves it; a throwing edit changes nothing. */
    change: async <T>(name: string, edit: (record: ClusterRecord) => T): Promise<T> => records.change(get(name), edit),
    remove: async (name: string): Promise<void> => records.remove(clusterIdOf(get(name).cluster)),
  };
}
