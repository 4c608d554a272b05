import { onArn, text, texts } from "../aws/operation.ts";
import { notFound } from "./errors.ts";
import type { WorkspaceRecord } from "./model.ts";
import { type ApsContext, type ApsOperation, operation, ownTags } from "./operation.ts";

type Tagged = { readonly arn: string; readonly tags: Record<string, string> };

export const tagOperations: readonly ApsOperation[] = [
  operation("ListTagsForResource", { resourceArn: text }, onArn, (context, { resourceArn }) => ({
    tags: located(context, resourceArn).tags,
  })),
  operation("TagResource", { resourceArn: text, tags: ownTags }, onArn, (context, { resourceArn, tags }) =>
    retag(context, resourceArn, (present) => Object.assign(present, tags)),
  ),
  operation("UntagResource", { resourceArn: text, tagKeys: texts }, onArn, (context, { resourceArn, tagKeys }) =>
    retag(context, resourceArn, (present) => {
      for (const key of tagKeys) delete present[key];
    }),
  ),
];

/** The tags of the resource with this ARN and the workspace that it belongs to, or undefined. */
export const findTagged = ({ store }: Pick<ApsContext, "store">, arn: string) =>
  store
    .list()
    .flatMap((record) => taggedIn(record, arn).map(({ tags }) => ({ id: record.workspace.workspaceId, tags })))[0];

async function retag(context: ApsContext, arn: string, edit: (tags: Record<string, string>) => void): Promise<object> {
  await context.store.change(located(context, arn).id, (record) => {
    for (const { tags } of taggedIn(record, arn)) edit(tags);
  });
  return {};
}

function located(context: ApsContext, arn: string) {
  const target = findTagged(context, arn);
  if (target !== undefined) return target;
  const type = arn.includes(":rulegroupsnamespace/") ? "rulegroupsnamespace" : "workspace";
  throw notFound(type, arn, `there is no resource with ARN ${arn}`);
}

const taggedIn = ({ workspace, namespaces }: WorkspaceRecord, arn: string): Tagged[] =>
  [workspace, ...Object.values(namespaces).map(({ namespace }) => namespace)].filter((each) => each.arn === arn);
