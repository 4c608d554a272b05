import { accessEntries } from "./access-entries.ts";
import { addons } from "./addons.ts";
import { noSuchArn } from "./errors.ts";
import type { ClusterRecord } from "./model.ts";
import { nodegroups } from "./nodegroups.ts";
import { type EksContext, type Operation, operation, tags, text, texts } from "./operation.ts";
import { podIdentities } from "./pod-identity.ts";

type Tags = Record<string, string>;

const onArn: Operation["authorize"] = (_context, { resourceArn = "*" }) => ({ resource: String(resourceArn) });

export const tagOperations: readonly Operation[] = [
  operation("ListTagsForResource", { resourceArn: text }, onArn, (context, { resourceArn }) => ({
    tags: found(context, resourceArn).tags,
  })),
  operation("TagResource", { resourceArn: text, tags }, onArn, (context, { resourceArn, tags }) =>
    retag(context, resourceArn, (before) => ({ ...before, ...tags })),
  ),
  operation("UntagResource", { resourceArn: text, tagKeys: texts }, onArn, (context, { resourceArn, tagKeys }) =>
    retag(context, resourceArn, (before) =>
      Object.fromEntries(Object.entries(before).filter(([name]) => !tagKeys.includes(name))),
    ),
  ),
];

async function retag(context: EksContext, arn: string, edit: (tags: Tags) => Tags): Promise<object> {
  await context.store.change(found(context, arn).cluster, (record) => {
    const target = taggedOf(record, arn);
    if (target !== undefined) target.tags = edit(target.tags);
  });
  return {};
}

function found(context: EksContext, arn: string): { cluster: string; tags: Tags } {
  const target = findTagged(context, arn);
  if (target === undefined) throw noSuchArn(`there is no EKS resource with ARN ${arn}`);
  return target;
}

/** The tags of the resource with this ARN and the cluster that it belongs to, or undefined. */
export function findTagged(
  { store }: Pick<EksContext, "store">,
  arn: string,
): { cluster: string; tags: Tags } | undefined {
  for (const record of store.list()) {
    const target = taggedOf(record, arn);
    if (target !== undefined) return { cluster: record.cluster.name, tags: target.tags };
  }
  return undefined;
}

const taggedOf = (record: ClusterRecord, arn: string): { tags: Tags } | undefined =>
  [
    { arn: record.cluster.arn, target: record.cluster },
    ...[nodegroups, accessEntries, addons, podIdentities].flatMap((kind) => kind.tagged(record)),
  ].find((candidate) => candidate.arn === arn)?.target;
