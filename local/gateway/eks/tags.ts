import { onArn } from "../aws/operation.ts";
import { accessEntries } from "./access-entries.ts";
import { addons } from "./addons.ts";
import { noSuchArn } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import { nodegroups } from "./nodegroups.ts";
import { type EksContext, type Operation, operation, tags, text, texts } from "./operation.ts";

type Tagged = { tags: Record<string, string> };

export const tagOperations: readonly Operation[] = [
  operation("ListTagsForResource", { resourceArn: text }, onArn, (context, { resourceArn }) => ({
    tags: named(context, resourceArn).tags,
  })),
  operation("TagResource", { resourceArn: text, tags }, onArn, (context, { resourceArn, tags }) =>
    retag(context, resourceArn, (target) => Object.assign(target.tags, tags)),
  ),
  operation("UntagResource", { resourceArn: text, tagKeys: texts }, onArn, (context, { resourceArn, tagKeys }) =>
    retag(context, resourceArn, (target) => {
      for (const key of tagKeys) delete target.tags[key];
    }),
  ),
];

async function retag(context: EksContext, arn: string, edit: (target: Tagged) => void): Promise<object> {
  await context.store.change(named(context, arn).cluster, (record) => taggedIn(record, arn).forEach(edit));
  return {};
}

function named(context: EksContext, arn: string) {
  const target = findTagged(context, arn);
  if (target === undefined) throw noSuchArn(`there is no EKS resource with ARN ${arn}`);
  return target;
}

/** The tags of the resource with this ARN and the cluster that it belongs to, or undefined. */
export function findTagged({ store }: Pick<EksContext, "store">, arn: string) {
  return store
    .list()
    .flatMap((record) => taggedIn(record, arn).map(({ tags }) => ({ cluster: record.cluster.name, tags })))[0];
}

const taggedIn = (record: ClusterRecord, arn: string): Tagged[] =>
  [
    { arn: record.cluster.arn, target: record.cluster },
    ...[nodegroups, accessEntries, addons].flatMap((kind) => kind.tagged(record)),
  ].flatMap((candidate) => (candidate.arn === arn ? [candidate.target] : []));
