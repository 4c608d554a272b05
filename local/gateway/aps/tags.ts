import { ownTags } from "../aws/operation.ts";
import { notFound } from "./errors.ts";
import type { WorkspaceRecord } from "./model.ts";
import { type ApsContext, type ApsOperation, tagOperations as operationsOn } from "./operation.ts";

type Tagged = { readonly arn: string; readonly tags: Record<string, string> };

/** The tags of the resource with this ARN and the workspace that it belongs to, or undefined. */
export const findTagged = ({ store }: Pick<ApsContext, "store">, arn: string) =>
  store
    .list()
    .flatMap((record) => taggedIn(record, arn).map(({ tags }) => ({ id: record.workspace.workspaceId, tags })))[0];

const taggedIn = ({ workspace, namespaces }: WorkspaceRecord, arn: string): Tagged[] =>
  [workspace, ...Object.values(namespaces).map(({ namespace }) => namespace)].filter((each) => each.arn === arn);

export const tagOperations: readonly ApsOperation[] = operationsOn({
  shape: ownTags,
  find: findTagged,
  change: ({ store }, id, arn, edit) =>
    store.change(id, (record) => {
      for (const { tags } of taggedIn(record, arn)) edit(tags);
    }),
  missing: (arn) => {
    const type = arn.includes(":rulegroupsnamespace/") ? "rulegroupsnamespace" : "workspace";
    return notFound(type, arn, `there is no resource with ARN ${arn}`);
  },
});
