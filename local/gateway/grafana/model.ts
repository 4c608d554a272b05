/** Actions, resources and condition keys as in the Service Authorization Reference, "… for Amazon Managed Grafana". */
import type * as sdk from "@aws-sdk/client-grafana";
import { exceptionsOf } from "../aws/errors.ts";
import type { AwsLookups } from "../aws/lookups.ts";
import { type Operation, type OperationNameOf, operationsOf, stringOf } from "../aws/operation.ts";
import { openRecords } from "../aws/record-files.ts";
import type { Known, Wire } from "../aws/wire.ts";

export type Workspace = Known<
  Wire<sdk.WorkspaceDescription>,
  "authentication" | "grafanaVersion" | "id" | "modified" | "status" | "tags"
>;
export type Permission = Wire<sdk.PermissionEntry>;

/** Everything that the API knows of one workspace: one file. */
export interface WorkspaceRecord {
  workspace: Workspace;
  readonly clientToken: string | undefined;
  /** JSON, as a text. */
  configuration: string;
  permissions: Permission[];
}

type Store = Awaited<ReturnType<typeof openStore>>;

/** The state of the API: one file per workspace, on disk before a call is answered. */
export async function openStore(folder: string) {
  const records = await openRecords<WorkspaceRecord>(folder, ({ workspace }) => workspace.id);
  const get = (id: string): WorkspaceRecord => {
    const record = records.find(id);
    if (record === undefined) throw notFound(id, `Workspace ${id} was not found`);
    return record;
  };
  return { ...records, get };
}

/** What every operation works with. */
export interface GrafanaContext {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly store: Store;
  /** IAM as the service sees it (not with the caller's rights). */
  readonly aws: Pick<AwsLookups, "role">;
  /** Seconds since 1970. */
  now(): number;
  /** Schedules another look at a workspace's background work. */
  wake(workspace: string): void;
}

type OperationName = OperationNameOf<typeof sdk>;
export type GrafanaOperation = Operation<GrafanaContext, OperationName>;

export const { operation, list, tagOperations } = operationsOf<GrafanaContext, OperationName>({ mostResults: 100 });

/** The exceptions of the API that the gateway raises, with their HTTP status. */
const exception = exceptionsOf({ ValidationException: 400, ResourceNotFoundException: 404, ConflictException: 409 });
const about = (resourceId: string) => ({ resourceType: "workspace", resourceId });

export const invalid = (message: string) =>
  exception("ValidationException")(message, { reason: "FIELD_VALIDATION_FAILED" });
export const unknownOperation = (message: string) =>
  exception("ValidationException")(message, { reason: "UNKNOWN_OPERATION" });
export const notFound = (id: string, message: string) => exception("ResourceNotFoundException")(message, about(id));
const conflict = (id: string, message: string) => exception("ConflictException")(message, about(id));

/** ARN of a workspace: the slash at its beginning is AWS's. */
export const workspaceArn = (
  { partition, region, account }: Pick<GrafanaContext, "partition" | "region" | "account">,
  id: string,
): string => `arn:${partition}:grafana:${region}:${account}:/workspaces/${id}`;

/** Authorization on the workspace that a request names. */
export const onWorkspace = (context: GrafanaContext, { workspaceId }: { readonly workspaceId?: unknown }) => ({
  resource: workspaceArn(context, stringOf(workspaceId)),
});

/** Changes the record of an ACTIVE workspace, which is then in `status` until its background work has ended. */
export async function changed(
  { store, now, wake }: GrafanaContext,
  id: string,
  status: Workspace["status"],
  edit: (record: WorkspaceRecord) => void = () => {},
): Promise<Workspace> {
  const workspace = await store.change(store.get(id), (record) => {
    const { status: present } = record.workspace;
    if (present !== "ACTIVE") throw conflict(id, `Workspace ${id} is ${present}: it must be ACTIVE for that`);
    edit(record);
    return Object.assign(record.workspace, { status, modified: now() });
  });
  wake(id);
  return workspace;
}
