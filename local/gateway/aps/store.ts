import { freeNumber, openRecords } from "../aws/record-files.ts";
import { notFound, quotaExceeded } from "./errors.ts";
import type { WorkspaceRecord } from "./model.ts";

/** The state of the API: one file per workspace, on disk before a call is answered. */
export type Store = Awaited<ReturnType<typeof openStore>>;

/** "Workspaces per region per account", AWS's default (User Guide, "Amazon Managed Service for Prometheus service quotas"). */
const QUOTA = { code: "L-8873DB23", value: 25 };

/** Opens the store in a folder (made where missing). */
export async function openStore(folder: string) {
  const records = await openRecords<WorkspaceRecord>(folder, ({ workspace }) => workspace.workspaceId);
  const get = (id: string): WorkspaceRecord => {
    const record = records.find(id);
    if (record === undefined) throw notFound("workspace", id, `Workspace not found: ${id}`);
    return record;
  };
  return {
    list: () => records.all().sort((a, b) => a.workspace.workspaceId.localeCompare(b.workspace.workspaceId)),
    find: records.find,
    /** The record. Throws ResourceNotFoundException. */
    get,
    /** The lowest free number. Throws ServiceQuotaExceededException. */
    freeNumber: (): number => {
      const taken = records.all().map((record) => record.number);
      const number = freeNumber(taken, { first: 0, end: QUOTA.value });
      if (number !== undefined) return number;
      throw quotaExceeded(QUOTA.code, `the account has ${QUOTA.value} workspaces, its quota: delete one first`);
    },
    add: records.add,
    /** Applies `edit` to a copy and saves it; a throwing edit changes nothing. */
    change: async <T>(id: string, edit: (record: WorkspaceRecord) => T): Promise<T> => records.change(get(id), edit),
    remove: (id: string): Promise<void> => records.remove(get(id).workspace.workspaceId),
  };
}
