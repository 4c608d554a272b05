import { randomUUID } from "node:crypto";
import * as z from "zod";
import { notFound } from "./errors.ts";
import type { ClusterRecord, Update, UpdateRecord } from "./model.ts";
import { type EksContext, list, type Operation, onCluster, operation, text } from "./operation.ts";

/** What an update changes: a node group, an add-on, or without either the cluster itself. */
type Subject = { [Name in keyof Omit<UpdateRecord, "update">]: string | undefined };

/**
 * Adds an update in progress to a record and gives it. EKS writes the names of parameters with a capital, and their values as
 * JSON where they are not strings.
 */
export function beginUpdate(
  context: EksContext,
  record: ClusterRecord,
  type: NonNullable<Update["type"]>,
  params: Readonly<Record<string, unknown>>,
  of: Subject = {},
): Update {
  const update = {
    id: randomUUID(),
    type,
    status: "InProgress",
    params: Object.entries(params)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({
        type: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        value: typeof value === "string" ? value : JSON.stringify(value),
      })),
    createdAt: context.now(),
    errors: [],
  } as Update;
  record.updates[update.id] = { update, ...of } as UpdateRecord;
  return update;
}

/** The updates of a cluster itself, a node group or an add-on that still run, oldest first. */
export function runningUpdates(record: ClusterRecord, of: Subject = {}): Update[] {
  return Object.values(record.updates)
    .filter((entry) => isOf(entry, of) && entry.update.status === "InProgress")
    .map((entry) => entry.update)
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** An update error without a code of its own. */
export const unknownError = (errorMessage: string): UpdateError => ({ errorCode: "Unknown", errorMessage });

type UpdateError = Update["errors"][number];

/** Ends every running update of one subject. */
export function endUpdates(record: ClusterRecord, of: Subject, error?: UpdateError): void {
  for (const update of runningUpdates(record, of)) {
    update.status = error === undefined ? "Successful" : "Failed";
    if (error !== undefined) update.errors = [error];
  }
}

/** Fails the running updates of a node group. A failed version update restores the group; nodes that it started stay. */
export function failUpdates(record: ClusterRecord, nodegroupName: string, error: UpdateError): void {
  const group = record.nodegroups[nodegroupName];
  if (group === undefined) return;
  Object.assign(group.nodegroup, group.versionUpdate?.before);
  delete group.versionUpdate;
  for (const node of group.nodes) if (node.drain?.for === "update") delete node.drain;
  endUpdates(record, { nodegroupName }, error);
}

const isOf = ({ nodegroupName, addonName }: UpdateRecord, of: Subject): boolean =>
  nodegroupName === of.nodegroupName && addonName === of.addonName;

const shape = { name: text, nodegroupName: z.string().optional(), addonName: z.string().optional() };

export const updateOperations: readonly Operation[] = [
  operation("DescribeUpdate", { ...shape, updateId: text }, onCluster, (context, { name, updateId, ...of }) => {
    const found = context.store.get(name).updates[updateId];
    if (found === undefined || !isOf(found, of)) throw notFound(`No update found for ID: ${updateId}`);
    return { update: found.update };
  }),
  list("ListUpdates", {
    member: "updateIds",
    shape,
    authorize: onCluster,
    items: (context, { name, ...of }) =>
      Object.values(context.store.get(name).updates).filter((entry) => isOf(entry, of)),
    keyOf: ({ update }) => update.id,
  }),
];
