import { randomUUID } from "node:crypto";
import { notFound } from "./errors.ts";
import type { ClusterRecord, Update, UpdateRecord } from "./model.ts";
import { type EksContext, type Operation, onCluster, page, pathPart } from "./operation.ts";

/** Adds an update in progress to a record and gives it. Parameters that are not strings are written as JSON, as EKS does. */
export function beginUpdate(
  context: EksContext,
  record: ClusterRecord,
  type: NonNullable<Update["type"]>,
  params: Readonly<Record<string, unknown>>,
  of: Pick<UpdateRecord, "nodegroupName" | "addonName"> = {},
): Update {
  const update = {
    id: randomUUID(),
    type,
    status: "InProgress",
    params: Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({ type: name, value: typeof value === "string" ? value : JSON.stringify(value) })),
    createdAt: context.now(),
    errors: [],
  } as Update;
  record.updates[update.id] = { update, ...of };
  return update;
}

/** The updates of a cluster itself, a node group or an add-on that still run, oldest first. */
export function runningUpdates(
  record: ClusterRecord,
  of: Pick<UpdateRecord, "nodegroupName" | "addonName"> = {},
): Update[] {
  return Object.values(record.updates)
    .filter((entry) => isOf(entry, of) && entry.update.status === "InProgress")
    .map((entry) => entry.update)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** An error of an update of which EKS has no more to say. */
export const unknownError = (errorMessage: string): UpdateError => ({ errorCode: "Unknown", errorMessage });

type UpdateError = Update["errors"][number];

/** Ends every running update of one subject. */
export function endUpdates(
  record: ClusterRecord,
  of: Pick<UpdateRecord, "nodegroupName" | "addonName">,
  error?: UpdateError,
): void {
  for (const update of runningUpdates(record, of)) {
    update.status = error === undefined ? "Successful" : "Failed";
    if (error !== undefined) update.errors = [error];
  }
}

/** Ends the running updates of a node group as failed. One of its version takes the group back; nodes that it has made stay. */
export function failUpdates(record: ClusterRecord, nodegroupName: string, error: UpdateError): void {
  const group = record.nodegroups[nodegroupName];
  if (group === undefined) return;
  Object.assign(group.nodegroup, group.versionUpdate?.before);
  delete group.versionUpdate;
  for (const node of group.nodes) if (node.drain?.for === "update") delete node.drain;
  endUpdates(record, { nodegroupName }, error);
}

function isOf(entry: UpdateRecord, of: Pick<UpdateRecord, "nodegroupName" | "addonName">): boolean {
  return entry.nodegroupName === of.nodegroupName && entry.addonName === of.addonName;
}

function subject(query: URLSearchParams): Pick<UpdateRecord, "nodegroupName" | "addonName"> {
  const nodegroupName = query.get("nodegroupName");
  const addonName = query.get("addonName");
  return { ...(nodegroupName === null ? {} : { nodegroupName }), ...(addonName === null ? {} : { addonName }) };
}

export const updateOperations: readonly Operation[] = [
  {
    name: "DescribeUpdate",
    method: "GET",
    path: "/clusters/{name}/updates/{updateId}",
    authorize: onCluster,
    run: (context, call) => {
      const id = pathPart(call, "updateId");
      const found = context.store.get(pathPart(call, "name")).updates[id];
      if (found === undefined || !isOf(found, subject(call.query))) throw notFound(`No update found for ID: ${id}`);
      return { update: found.update };
    },
  },
  {
    name: "ListUpdates",
    method: "GET",
    path: "/clusters/{name}/updates",
    authorize: onCluster,
    run: (context, call) => {
      const updates = Object.values(context.store.get(pathPart(call, "name")).updates).filter((entry) =>
        isOf(entry, subject(call.query)),
      );
      const { items, ...rest } = page(updates, call.query, (entry) => entry.update.id);
      return { updateIds: items.map((entry) => entry.update.id), ...rest };
    },
  },
];
