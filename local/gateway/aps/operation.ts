/**
 * Actions, resources and condition keys as in the Service Authorization Reference, "Actions, resources, and condition keys for
 * Amazon Managed Service for Prometheus".
 */
import type * as sdk from "@aws-sdk/client-amp";
import * as z from "zod";
import type { AwsLookups } from "../aws/lookups.ts";
import { type Operation, type OperationNameOf, operationsOf, stringOf } from "../aws/operation.ts";
import { conflict } from "./errors.ts";
import type { WorkspaceRecord } from "./model.ts";
import type { Workspaces } from "./runtime.ts";
import type { Store } from "./store.ts";

/** What every operation works with. */
export interface ApsContext {
  readonly region: string;
  readonly account: string;
  readonly partition: string;
  readonly store: Store;
  readonly workspaces: Workspaces;
  /** KMS as the service sees it (not with the caller's rights). */
  readonly aws: Pick<AwsLookups, "keyEnabled">;
  /** Seconds since 1970. */
  now(): number;
  /** Schedules another look at a workspace's background work. */
  wake(workspace: string): void;
}

type OperationName = OperationNameOf<typeof sdk>;
export type ApsOperation = Operation<ApsContext, OperationName>;

export const { operation, list, tagOperations } = operationsOf<ApsContext, OperationName>({ mostResults: 1000 });

export const clientToken = z.string().optional();

/** ARN of a resource of the API. */
export function apsArn(context: Pick<ApsContext, "partition" | "region" | "account">, resource: string): string {
  return `arn:${context.partition}:aps:${context.region}:${context.account}:${resource}`;
}

/** Authorization on the workspace that a request names. */
export const onWorkspace: ApsOperation["authorize"] = (context, { workspaceId }) => ({
  resource: apsArn(context, `workspace/${stringOf(workspaceId)}`),
});

/** Throws ConflictException unless a workspace is ACTIVE: everything within it waits for that. */
function expectActive({ workspace }: WorkspaceRecord): void {
  const { workspaceId, status } = workspace;
  if (status.statusCode !== "ACTIVE")
    throw conflict(
      "workspace",
      workspaceId,
      `Workspace ${workspaceId} is ${status.statusCode}: it must be ACTIVE for that`,
    );
}

/** Changes the record of an ACTIVE workspace and schedules its background work. */
export async function changed<T>(context: ApsContext, id: string, edit: (record: WorkspaceRecord) => T): Promise<T> {
  const result = await context.store.change(id, (record) => {
    expectActive(record);
    return edit(record);
  });
  context.wake(id);
  return result;
}
